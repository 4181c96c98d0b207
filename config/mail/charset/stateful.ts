/** Charsets in which the meaning of an octet depends on earlier octets. Each takes one character an octet. */

/** Charsets with a state at the end of a piece: neighbouring pieces cannot be joined as octets. */
export const isStateful = (charset: string): boolean => /^(?:iso-2022-|hz-|utf-7$)/.test(charset)

/** JIS X 0208 text without a declared charset shows itself by its escape sequence. */
export const hasJapaneseEscape = (octets: Buffer): boolean => octets.includes('\u001b$B') || octets.includes('\u001b$@')

/** ISO-2022-JP for `TextDecoder`, which refuses an escape sequence directly after another: only the last one counts. */
export const singleEscapes = (text: string): string => text.replaceAll(/(?:\u001b[$(][@-J])+(?=\u001b[$(][@-J])/g, '')

/** ISO-2022-KR (RFC 1557) as EUC-KR: characters between SO and SI get their high bit. */
export const koreanOctets = (text: string): string =>
  text.replaceAll('\u001b$)C', '').replaceAll(/\u000e([^\u000e\u000f\n]*)\u000f?/g, (_, shifted: string) => highBits(shifted))

/** HZ (RFC 1843) as GBK: characters between `~{` and `~}` get their high bit. */
export const chineseOctets = (text: string): string =>
  text.replaceAll(/~(?:~|\r?\n|\{([^~\n]*)(?:~\})?)/g, (whole, shifted?: string) => {
    if (shifted !== undefined) return highBits(shifted)
    return whole === '~~' ? '~' : ''
  })

const highBits = (text: string): string => text.replaceAll(/[\u0021-\u007e]/g, (c) => String.fromCharCode(c.charCodeAt(0) | 0x80))

/** UTF-7 (RFC 2152), which Exchange 2003 writes. */
export function fromUtf7(text: string): string {
  return text.replaceAll(/\+([A-Za-z0-9+/]{0,1000})-?/g, (whole, base64: string) => {
    if (base64 === '') return whole === '+-' ? '+' : whole
    const octets = Buffer.from(base64, 'base64')
    return octets
      .subarray(0, octets.length & ~1)
      .swap16()
      .toString('utf16le')
  })
}
