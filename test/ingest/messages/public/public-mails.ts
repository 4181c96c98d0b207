/** Mails from public repositories (see `test/fixtures/mail/public/README.md`) and the bounces in the fixtures. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

export interface PublicMail {
  /** `source/path in its repository`. */
  readonly name: string
  readonly octets: Buffer
}

const fixtures = join(import.meta.dirname, '../../../fixtures')

/** Returns the mails in a stable order. */
export function publicMails(): PublicMail[] {
  const packed = namesIn('mail/public', '.ndjson.br').flatMap(packedMails)
  const bounces = ['flanker', 'mail-auth', 'sisimai', 'spamassassin'].flatMap((source) =>
    namesIn(`bounces/${source}`, '.eml').map((file) => ({
      name: `bounces/${source}/${file}`,
      octets: readFileSync(join(fixtures, 'bounces', source, file)),
    })),
  )
  return [...packed, ...bounces]
}

const namesIn = (folder: string, end: string): string[] =>
  readdirSync(join(fixtures, folder))
    .filter((name) => name.endsWith(end))
    .toSorted()

/** Each line has the path of a mail, and its octets as characters. */
function packedMails(file: string): PublicMail[] {
  const lines = brotliDecompressSync(readFileSync(join(fixtures, 'mail/public', file))).toString()
  return lines.split('\n').map((line) => {
    const { file: path, mail } = JSON.parse(line) as { readonly file: string; readonly mail: string }
    return { name: `${file.slice(0, -'.ndjson.br'.length)}/${path}`, octets: Buffer.from(mail, 'latin1') }
  })
}
