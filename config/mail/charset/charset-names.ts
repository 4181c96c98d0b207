/** Names of charsets from IANA, from the WHATWG, and from common mistakes of mail programs. */
import { codePages } from './code-pages.ts'

/** The charset of a name that says nothing about the octets. */
export const unnamed = ''
export const ascii = 'us-ascii'

const maxName = 64

/** Names without punctuation, in lower case. A name that is missing here is looked up by its shape, then by `TextDecoder`. */
const aliases = new Map<string, string>([
  ...named(ascii, 'ascii usascii us cp367 ibm367 646 iso646 iso646us iso646irv1991 isoir6 ansix341968 ansix341986 ansix34 csascii 7bit'),
  ...named(unnamed, 'binary 8bit none unknown xunknown unknown8bit default defaultcharset auto autodetect xuserdefined iso8859 ansi'),
  ...named('utf-8', 'utf utf8mb4 cesu8 xutf8 utf8bom csutf8'),
  ...named('utf-7', 'utf7 unicode11utf7 csutf7 unicode20utf7'),
  ...named('utf-16', 'utf16 unicode ucs2 iso10646ucs2 csunicode csutf16'),
  ...named('utf-32', 'utf32 ucs4 iso10646ucs4 csucs4 utf32be utf32le'),
  ...named('utf-16be', 'utf16be'),
  ...named('utf-16le', 'utf16le'),
  ...named('iso-2022-jp', 'jis iso2022jp1 iso2022jp2 iso2022jp3 iso2022jpms iso2022jp2004 cp50220 cp50221 cp50222 csiso2022jp'),
  ...named('iso-2022-kr', 'iso2022kr csiso2022kr cp50225'),
  ...named('hz-gb-2312', 'hz hzgb2312'),
  ...named('shift_jis', 'cp932 ibm943 cswindows31j shiftjisx0213 sjisopen'),
  ...named('euc-jp', 'eucjp eucjpms ujis cp51932 xujis extendedunixcodepackedformatforjapanese'),
  ...named('gbk', 'cp936 ms936 windows936 euccn gb231280 cp20936'),
  ...named('gb18030', 'cp54936 gb180302000'),
  ...named('big5', 'cp950 ms950 eten big5hkscs'),
  ...named('euc-kr', 'cp949 ms949 uhc johab5601 kscx5601 ksc56011992 cp51949'),
  ...named('macintosh', 'macroman xmacroman mac'),
  ...named('hp-roman8', 'hproman8 roman8 r8 cshproman8'),
  ...named('windows-874', 'tis620 tis62025330 thai'),
  ...named('koi8-u', 'koi8u'),
  ...named('windows-1252', 'windows31latin1 iso88591windows31latin1'),
  ...named('iso-8859-2', 'windows31latin2'),
  ...named('windows-1254', 'windows31latin5'),
  ...named('iso-8859-14', 'isoir199 isoceltic'),
  ...named('iso-8859-16', 'isoir226'),
  ...named('ibm437', 'pc8codepage437'),
  ...named('ibm775', 'pc775baltic'),
  ...named('ibm852', 'pcp852'),
  ...named('ibm858', 'ccsid00858 pcmultilingual850euro'),
  ...named('ibm861', 'cpis'),
  ...named('ibm862', 'pc862latinhebrew'),
  ...named('ibm869', 'cpgr'),
])

function* named(charset: string, names: string): Iterable<[string, string]> {
  for (const name of names.split(' ')) yield [name, charset]
}

/**
 * The charset of a declared name: `unnamed` if the name says nothing, undefined if it is unknown. Aliases of IANA can begin with `cs`
 * (RFC 2978 §2.3).
 */
export function charsetNamed(declared: string): string | undefined {
  const [name = ''] = declared
    .slice(0, maxName)
    .replaceAll(/["'<>\s]/g, '')
    .toLowerCase()
    .replace(/^charset=/, '')
    .split(/[;,*]/)
  const squeezed = name.replaceAll(/[^a-z0-9]/g, '')
  if (squeezed === '') return unnamed
  return known(name, squeezed) ?? (squeezed.startsWith('cs') ? known(squeezed.slice(2), squeezed.slice(2)) : undefined)
}

const known = (name: string, squeezed: string): string | undefined =>
  aliases.get(squeezed) ?? byShape(name, squeezed) ?? byLabel(name) ?? byLabel(squeezed)

/** Numbers of Windows, ISO 8859 and DOS in any spelling: `win-1251`, `cp_1250`, `iso88592`, `IBM00858`, `Latin-9`. */
function byShape(name: string, squeezed: string): string | undefined {
  const windows = /^(?:x?cp|(?:x?ms)?win(?:dows)?|ms|ansi|ibm)?(125[0-8]|874)$/.exec(squeezed)?.[1]
  if (windows !== undefined) return `windows-${windows}`
  const iso = /^(?:x-)?(?:iso)?[-_ ]?8859[-_ ]?(\d{1,2})(?!\d)/.exec(name)?.[1]
  const latin = latinParts[/^(?:x?latin|l)(\d{1,2})$/.exec(squeezed)?.[1] ?? '']
  const part = iso ?? latin
  if (part !== undefined) return byLabel(`iso-8859-${Number(part)}`)
  const page = `ibm${/^(?:cs)?(?:cp|ibm|oem|dos|pc|x)?0*(\d{3})(?:multilingual)?$/.exec(squeezed)?.[1]}`
  return codePages.has(page) ? page : undefined
}

/** The part of ISO 8859 that each Latin alphabet is. */
const latinParts: Readonly<Record<string, number>> = { 1: 1, 2: 2, 3: 3, 4: 4, 5: 9, 6: 10, 7: 13, 8: 14, 9: 15, 10: 16 }

function byLabel(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}
