// An extension of the tests: the virtual model `fake/auto`, which routes to `fake/chat`.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function virtualModel(pi: ExtensionAPI): void {
  pi.registerVirtualModel({
    provider: "fake",
    id: "auto",
    name: "Auto",
    route: (_request, ctx) => {
      const model = ctx.modelRegistry.find("fake", "chat");
      if (model === undefined) throw new Error("no chat model");
      return { model, thinkingLevel: "off" };
    },
  });
}
