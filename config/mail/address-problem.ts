/** Explains why a text is not a mail address. */
import { trimInvisible, invisibleIn } from './invisible.ts'
import names from './character-names.json' with { type: 'json' }

/** Returns `U+200B ZERO WIDTH SPACE`, or only the code point if the name is unknown. */
function characterName(character: string): string {
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const name = (names.names as Readonly<Record<string, string>>)[point]
  return name === undefined ? `U+${point}` : `U+${point} ${name}`
}

/**
 * Returns the problem of a text that `parseAddress` or `parseMailbox` refused, such as `must have no invisible character; remove U+200B …`.
 * Undefined without a specific problem.
 */
export function addressProblem(text: string): string | undefined {
  const given = text.slice(0, 600)
  const trimmed = trimInvisible(given)
  const address = trimmed.endsWith('>') ? trimmed.slice(trimmed.lastIndexOf('<') + 1, -1) : given
  if (/^\s*"(?:[^"\\]|\\.)*"@/.test(address)) return 'must have no quotation marks before the @; quoted local parts are not supported'
  const character = address.includes('@') ? invisibleIn(address.replaceAll(' ', '')) : undefined
  return character === undefined ? undefined : `must have no invisible character; remove ${characterName(character)}`
}
