/** Messages that are chosen by a code, such as that of a finding. */

type Values = Readonly<Record<string, string | number>>

/**
 * Returns the message of a code with its values. Undefined if the catalog lacks the code, or if the message needs a value that is missing
 * and `missing` replaces none.
 */
export function codedMessage(messages: object, code: string, values: Values = {}, missing?: string): string | undefined {
  if (!Object.hasOwn(messages, code)) return undefined
  const { [code]: message } = messages as Readonly<Record<string, string | ((values: Values) => string)>>
  if (typeof message !== 'function') return message
  let isComplete = true
  const known = new Proxy(values, {
    get: (all, name) => {
      if (Object.hasOwn(all, name)) return all[String(name)]
      isComplete &&= missing !== undefined
      return missing
    },
  })
  const text = message(known)
  return isComplete ? text : undefined
}
