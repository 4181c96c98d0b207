/** Messages that are chosen by a code, such as that of a finding. */

/** Returns the message of a code with its values; undefined if the catalog does not have the code. */
export function codedMessage(messages: object, code: string, values: Readonly<Record<string, string>> = {}): string | undefined {
  if (!Object.hasOwn(messages, code)) return undefined
  const message = (messages as Readonly<Record<string, string | ((values: object) => string)>>)[code]
  return typeof message === 'function' ? message(values) : message
}
