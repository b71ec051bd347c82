// `/compact-model`: who shall write compactions.

import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { SelectItem } from "@earendil-works/pi-tui";
import { notify } from "./ledger.ts";
import { messageOf } from "./message.ts";
import { isVirtual, nameOf } from "./model.ts";
import { PickerView } from "./picker-view.ts";
import { readSettings, SETTINGS_NAME, writeModel } from "./settings.ts";

/** Stands for `null` in lists, which hold strings; no `provider/id` equals it. */
const OFF = "off";
const TITLE = "Who writes compactions?";

export async function pickModel(ctx: ExtensionCommandContext): Promise<void> {
  try {
    const chosen = await ask(ctx, choicesOf(ctx), readSettings().model ?? OFF);
    if (chosen === undefined) return;
    writeModel(chosen === OFF ? null : chosen);
    notify(ctx, `${chosen} from the next compaction on (${SETTINGS_NAME})`, "info");
  } catch (error) {
    notify(ctx, messageOf(error), "error");
  }
}

function choicesOf(ctx: ExtensionCommandContext): SelectItem[] {
  const models = ctx.modelRegistry.getAvailable().filter((model) => !isVirtual(model));
  return [
    { value: OFF, label: OFF, description: "pi itself" },
    { value: "session", label: "session", description: "the chat's model" },
    ...models.map((model) => ({
      value: nameOf(model),
      label: drawable(nameOf(model)),
      description: drawable(model.name),
    })),
  ];
}

/** On one line, and without commands to the terminal: names come from providers and from files. */
const drawable = (name: string): string => name.replace(/\p{Cc}/gu, "\uFFFD");

/** In the terminal a list with a filter; elsewhere `custom` draws nothing, and the host's own selection serves. */
async function ask(
  ctx: ExtensionCommandContext,
  choices: SelectItem[],
  current: string,
): Promise<string | undefined> {
  let isDrawn = false;
  const chosen = await ctx.ui.custom<string | undefined>((tui, _theme, keys, done) => {
    isDrawn = true;
    return new PickerView({ title: TITLE, choices, current, tui, keys, done });
  });
  if (isDrawn) return chosen;
  return ctx.ui.select(
    `${TITLE} Now: ${current}`,
    choices.map(({ value }) => value),
  );
}
