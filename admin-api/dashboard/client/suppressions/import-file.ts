/** Parses suppressions from a file or pasted lines: CSV with or without a header, or one address per line. */

export interface ImportRow {
  readonly email: string
  readonly reason?: string
}

export interface Parsed {
  readonly rows: readonly ImportRow[]
  /** Number of lines without an address. */
  readonly without: number
  /** Number of duplicate addresses. */
  readonly repeated: number
}

/** Maximum number of rows per request. */
export const maxRows = 50_000

export function parseImport(text: string): Parsed {
  const [first = [], ...others] = recordsOf(text)
  const head = first.map((name) => name.trim().toLowerCase())
  const at = head.indexOf('email')
  const reasonAt = at < 0 ? 1 : head.indexOf('reason')
  const lines = at < 0 ? [first, ...others] : others
  const byAddress = new Map<string, ImportRow>()
  let [without, all] = [0, 0]
  for (const line of lines) {
    const email = (line[Math.max(0, at)] ?? '').trim()
    const reason = (line[reasonAt] ?? '').trim()
    if (line.every((cell) => cell.trim() === '')) continue
    if (!email.includes('@')) without++
    else {
      all++
      byAddress.set(email.toLowerCase(), { email, ...(reason !== '' && { reason }) })
    }
  }
  return { rows: [...byAddress.values()], without, repeated: all - byAddress.size }
}

/** Parses CSV records (RFC 4180 §2) separated by commas or semicolons, which spreadsheets use. */
function recordsOf(text: string): string[][] {
  const separator = (text.split('\n', 1)[0] ?? '').includes(';') ? ';' : ','
  const records: string[][] = [['']]
  let isQuoted = false
  for (let i = text.startsWith('\uFEFF') ? 1 : 0; i < text.length; i++) {
    const one = text[i] ?? ''
    const record = records.at(-1) ?? []
    const last = record.length - 1
    if (isQuoted) {
      if (one !== '"') record[last] += one
      else if (text[i + 1] === '"') record[last] += text[++i] ?? ''
      else isQuoted = false
    } else if (one === '"' && record[last] === '') isQuoted = true
    else if (one === separator) record.push('')
    else if (one === '\n') records.push([''])
    else if (one !== '\r') record[last] += one
  }
  return records
}
