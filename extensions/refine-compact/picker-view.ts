// A list with a fuzzy filter above it, never larger than the terminal.

import { getSelectListTheme } from "@earendil-works/pi-coding-agent";
import {
  type Component,
  fuzzyFilter,
  Input,
  type SelectItem,
  SelectList,
  truncateToWidth,
} from "@earendil-works/pi-tui";

/** Lines that are not the list's: the title, the filter, the place in the list, and pi's own below. */
const OTHER_ROWS = 7;
const MOST_ROWS = 10;
/** Ids of models that a gateway serves are long, and differ at their ends. */
const LAYOUT = { minPrimaryColumnWidth: 16, maxPrimaryColumnWidth: 60 };
const LIST_KEYS = ["tui.select.up", "tui.select.down", "tui.select.confirm", "tui.select.cancel"] as const;

export interface PickerParts {
  title: string;
  choices: SelectItem[];
  current: string;
  tui: { terminal: { rows: number }; requestRender(): void };
  keys: { matches(data: string, key: (typeof LIST_KEYS)[number]): boolean };
  done(chosen: string | undefined): void;
}

export class PickerView implements Component {
  readonly #parts: PickerParts;
  readonly #input = new Input();
  #rows = 0;
  #found: SelectItem[] = [];
  #list!: SelectList;

  constructor(parts: PickerParts) {
    this.#parts = parts;
    this.#input.focused = true;
    this.#fill(parts.current);
  }

  render(width: number): string[] {
    if (this.#rows !== this.#mostRows()) this.#fill(this.#list.getSelectedItem()?.value);
    const list = this.#found.length > 0 ? this.#list.render(width) : ["  no model is called so"];
    const lines = [this.#parts.title, ...this.#input.render(width), ...list];
    return lines.map((line) => truncateToWidth(line, width, ""));
  }

  handleInput(data: string): void {
    const { keys, tui } = this.#parts;
    if (LIST_KEYS.some((key) => keys.matches(data, key))) {
      this.#list.handleInput(data);
    } else {
      const before = this.#input.getValue();
      this.#input.handleInput(data);
      if (this.#input.getValue() !== before) this.#fill(undefined);
    }
    tui.requestRender();
  }

  invalidate(): void {
    this.#list.invalidate();
  }

  #mostRows(): number {
    return Math.max(1, Math.min(MOST_ROWS, this.#parts.tui.terminal.rows - OTHER_ROWS));
  }

  /** @param selected the value that is to be marked; else the first */
  #fill(selected: string | undefined): void {
    const { choices, done } = this.#parts;
    this.#rows = this.#mostRows();
    this.#found = fuzzyFilter(
      choices,
      this.#input.getValue(),
      ({ label, description }) => `${label} ${description}`,
    );
    this.#list = new SelectList(this.#found, this.#rows, getSelectListTheme(), LAYOUT);
    this.#list.setSelectedIndex(
      Math.max(
        0,
        this.#found.findIndex(({ value }) => value === selected),
      ),
    );
    this.#list.onSelect = ({ value }) => done(value);
    this.#list.onCancel = () => done(undefined);
  }
}
