// Signals that are watched.

/** A signal, and how often a listener was added to it and taken from it. */
export function countedSignal() {
  const { signal } = new AbortController();
  const listeners = { addEventListener: 0, removeEventListener: 0 };
  for (const name of /** @type {(keyof typeof listeners)[]} */ (Object.keys(listeners))) {
    const method = signal[name];
    signal[name] = (/** @type {any[]} */ ...args) => {
      listeners[name]++;
      return Reflect.apply(method, signal, args);
    };
  }
  return { signal, listeners };
}
