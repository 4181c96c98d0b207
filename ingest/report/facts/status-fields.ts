/**
 * Parses the fields of message/delivery-status (RFC 3464 §2.1) and message/feedback-report (RFC 5965 §3): groups separated by empty lines.
 */

/** One group: names in lower case, unfolded values, in order. */
export interface FieldGroup {
  readonly fields: readonly (readonly [name: string, value: string])[]
}

const maxFields = 20_000
const maxValue = 8192
const lineShape = /^([!-9;-~]{1,100})[ \t]*:(.*)$/

/**
 * Parses groups leniently. White space before the colon is accepted (Mimecast). A line that is neither a field nor indented continues the
 * previous field (Google's diagnostics). A repeated Final-Recipient starts a new group even without an empty line.
 */
export function fieldGroups(text: string): FieldGroup[] {
  const groups: { fields: [string, string][] }[] = []
  let group: { fields: [string, string][] } | undefined
  let count = 0
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      group = undefined
      continue
    }
    const match = /^[ \t]/.test(line) ? null : lineShape.exec(line.slice(0, maxValue))
    const last = group?.fields.at(-1)
    if (!match) {
      if (last && last[1].length < maxValue) last[1] = `${last[1]} ${line.trim()}`.slice(0, maxValue)
      continue
    }
    if (++count > maxFields) break
    const name = (match[1] ?? '').toLowerCase()
    if (!group || startsRecipient(name, group.fields)) groups.push((group = { fields: [] }))
    group.fields.push([name, (match[2] ?? '').trim()])
  }
  return groups
}

const startsRecipient = (name: string, fields: readonly (readonly [string, string])[]): boolean =>
  (name === 'final-recipient' || name === 'original-recipient' || name === 'action') && fields.some(([had]) => had === name)

/** The first value of a field; undefined if it is missing or empty. */
export const valueIn = ({ fields }: FieldGroup, name: string): string | undefined => {
  const value = fields.find(([had]) => had === name)?.[1]
  return value === '' ? undefined : value
}

/** All non-empty values of a field. */
export const valuesIn = ({ fields }: FieldGroup, name: string): string[] =>
  fields.filter(([had, value]) => had === name && value !== '').map(([, value]) => value)
