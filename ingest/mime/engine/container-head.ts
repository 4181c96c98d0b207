/** What the header of a part says about parts inside it, read in the way of mailparser, whose view of the structure counts. */

export interface ContainerHead {
  /** Empty if there is none. */
  readonly boundary: string
  /** A message that mailparser opens: its header follows directly. */
  readonly isMessage: boolean
}

/** `head` has one character an octet. */
export function containerHead(head: string): ContainerHead {
  const lines = head.replaceAll(/\r?\n[ \t]/g, ' ')
  const contentType = fieldOf(lines, 'content-type')
  const isMessage = /^\s*message\/rfc822\s*(?:;|$)/i.test(contentType)
  return {
    boundary: parameterOf(contentType, 'boundary'),
    isMessage:
      isMessage &&
      /^\s*inline\s*(?:;|$)/i.test(fieldOf(lines, 'content-disposition')) &&
      /^\s*(?:(?:7bit|8bit|binary)\s*)?$/i.test(fieldOf(lines, 'content-transfer-encoding')),
  }
}

/** The first field of that name. */
function fieldOf(lines: string, name: string): string {
  return new RegExp(String.raw`^${name}[ \t]*:([^\n]*)`, 'im').exec(lines)?.[1]?.trim() ?? ''
}

/** The last parameter of that name, with quotes and backslashes resolved. */
function parameterOf(value: string, name: string): string {
  let found = ''
  for (const [, key = '', given = ''] of value.matchAll(/;\s*([^\s=;"]+)\s*=\s*((?:"(?:[^"\\]|\\[^])*"?|[^;"\\]|\\[^])*)/g)) {
    if (key.toLowerCase() === name) found = unquoted(given)
  }
  return found
}

function unquoted(given: string): string {
  let text = ''
  let end = 0
  let isQuoted = false
  for (let at = 0; at < given.length; at++) {
    const char = given.charAt(at)
    if (char === '"') isQuoted = !isQuoted
    else text += char === '\\' ? given.charAt(++at) : char
    if (isQuoted || !/\s/.test(char)) end = text.length
  }
  return text.slice(0, end).trimStart()
}
