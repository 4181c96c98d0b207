/** For doubles of vendors that read the recipients from the header of the message. */

/** Returns the addresses of a header field, by its name in lower case. */
export function headerAddresses(mime: Buffer, name: string): string[] {
  const head = mime.toString('latin1').split('\r\n\r\n')[0] ?? ''
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const values = lines.filter((line) => line.toLowerCase().startsWith(`${name}:`)).map((line) => line.slice(name.length + 1))
  return values.flatMap((value) => value.replaceAll(/"[^"]*"/g, '').match(/[^\s<>,]+@[^\s<>,]+/g) ?? [])
}

/** Returns the message without recipient fields, which each attempt may write differently. */
export function withoutAddressing(mime: Buffer): string {
  const [head = '', ...body] = mime.toString('latin1').split('\r\n\r\n')
  const kept = `${head}\r\n`.replaceAll(/^(?:To|Cc|Bcc):[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*/gim, '')
  return [kept, ...body].join('\r\n\r\n')
}
