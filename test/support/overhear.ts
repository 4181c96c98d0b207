/** Records what the parts of a daemon report to each other. */

/** Calls `listener` with what a method of this object is called with, before the method itself. */
export function overhear<Part, Name extends keyof Part>(
  part: Part,
  name: Name,
  listener: Part[Name] extends (...given: infer A) => unknown ? (...given: A) => void : never,
): void {
  const method = part[name] as (...given: unknown[]) => unknown
  const wrapped = (...given: unknown[]): unknown => {
    ;(listener as (...given: unknown[]) => void)(...given)
    return method.apply(part, given)
  }
  part[name] = wrapped as Part[Name]
}
