/** Work in progress of a daemon, reported where it begins and ends. Nothing counts it in production; tests wait for its end. */

export interface Activity {
  /** Reports work in progress; the returned function reports its end. */
  begin(name: string): () => void
}

/** A method that returns a promise. */
type Methods<Part> = { [Key in keyof Part as Part[Key] extends (...given: never[]) => Promise<unknown> ? Key : never]?: string }

/** Reports each call of the named methods until its promise settles. Without an activity the part itself. */
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

/** Reports each call until its promise settles. */
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
