// An extension of the tests: call stacks are not what they are elsewhere.

export default function stackless(): void {
  Error.stackTraceLimit = 0;
  Error.prepareStackTrace = () => undefined;
}
