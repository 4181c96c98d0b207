/** Records calls between the parts of a daemon. */
import { waiting } from './waits.ts'

/** Calls `listener` with the arguments of each call of a method, before the method itself. */
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

type Given<Part, Name extends keyof Part> = Part[Name] extends (...given: infer A) => unknown ? A : never

/** Records the calls of all methods of a part, so that tests can wait for one. */
export class Heard<Part extends object> {
  readonly #calls = new Map<PropertyKey, unknown[][]>()
  #next = Promise.withResolvers<void>()

  constructor(part: Part) {
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(part)) as (keyof Part)[])
      if (name !== 'constructor') overhear(part, name, ((...given: unknown[]) => this.#note(name, given)) as never)
  }

  /** Resolves with the arguments of the first matching call, past or future. */
  saw<Name extends keyof Part & string>(name: Name, fits?: (...given: Given<Part, Name>) => boolean): Promise<Given<Part, Name>> {
    return waiting(`a call of ${name}`, this.#saw(name, fits))
  }

  async #saw<Name extends keyof Part>(name: Name, fits?: (...given: Given<Part, Name>) => boolean): Promise<Given<Part, Name>> {
    for (;;) {
      const found = (this.#calls.get(name) ?? []).find((given) => fits?.(...(given as Given<Part, Name>)) ?? true)
      if (found) return found as Given<Part, Name>
      await this.#next.promise
    }
  }

  #note(name: keyof Part, given: unknown[]): void {
    const calls = this.#calls.get(name)
    if (calls) calls.push(given)
    else this.#calls.set(name, [given])
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }
}
