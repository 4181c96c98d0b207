/** Reports the start and end of work in a daemon, so that tests can wait for it. Unused in production. */

export interface Activity {
  /** Reports the start of work; the returned function reports its end. */
  begin(name: string): () => void
}

/** Names of work, by methods that return promises. */
type Methods<Part> = { [Key in keyof Part as Part[Key] extends (...given: never[]) => Promise<unknown> ? Key : never]?: string }

/** Returns the part with calls of the named methods reported until they settle. Returns the part itself without an activity. */
export function reported<Part extends object>(activity: Activity | undefined, part: Part, names: Methods<Part>): Part {
  if (!activity) return part
  return new Proxy(part, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const method = value.bind(target) as (...given: unknown[]) => Promise<unknown>
      const name = (names as Readonly<Record<PropertyKey, string | undefined>>)[key]
      return name === undefined ? method : reportedCall(activity, name, method)
    },
  })
}

/** Returns the function with each call reported until it settles. */
export function reportedCall<Given extends unknown[], Result>(
  activity: Activity | undefined,
  name: string,
  call: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result> {
  if (!activity) return call
  return async (...given) => {
    const end = activity.begin(name)
    try {
      return await call(...given)
    } finally {
      end()
    }
  }
}
