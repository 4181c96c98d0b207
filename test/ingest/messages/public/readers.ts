/** Runs `readMessage()`, postal-mime and Python's email package on the same mails. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import PostalMime, { type Address as PostalAddress, type Attachment } from 'postal-mime'
import { readParts } from '#ingest/mime/message-parts.ts'
import { readMessage } from '#ingest/messages/read-message.ts'
import { comparable, type Address, type Comparable, type File } from './comparable.ts'
import { pythonReader } from './python-reader.ts'

/** Text parts next to HTML, which `readMessage()` adds to the HTML. */
const textAmongHtml = /<div style="white-space:pre-wrap">[^<]*<\/div>/g

export async function ourReading(octets: Buffer): Promise<Comparable> {
  const { subject, from, to, cc, replyTo, date } = await readMessage(octets, false)
  const { text = '', html = '', attachments } = await readParts(octets)
  const files = attachments.map(({ filename, contentType, content }) => ({ name: filename, type: contentType, size: content.length }))
  return comparable({
    ...{ subject, from, to, cc, replyTo, text, files },
    ...{ date: Date.parse(date ?? ''), html: html.replaceAll(textAmongHtml, '') },
  })
}

/** postal-mime lists delivery reports as files; `readMessage()` displays them in the text. */
export async function postalReading(octets: Buffer): Promise<Comparable> {
  const email = await PostalMime.parse(octets)
  const isReport = ({ mimeType }: Attachment): boolean => mimeType === 'message/delivery-status'
  const reports = email.attachments.filter(isReport).map(({ content }) => Buffer.from(content as ArrayBuffer).toString('latin1'))
  const files = email.attachments.filter((file) => !isReport(file)).map(fileOfPostal)
  return comparable({
    ...{ subject: email.subject ?? '', from: mailboxes(email.from && [email.from]), to: mailboxes(email.to), cc: mailboxes(email.cc) },
    ...{ replyTo: mailboxes(email.replyTo), date: Date.parse(email.date ?? ''), html: email.html ?? '', files },
    text: [email.text ?? '', ...reports].join('\n'),
  })
}

const fileOfPostal = ({ filename, mimeType, content }: Attachment): File => ({
  ...{ name: filename, type: mimeType },
  size: typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength,
})

const mailboxes = (list: readonly PostalAddress[] = []): Address[] =>
  list.flatMap(({ address, name, group }) => group ?? [{ address: address ?? '', name }])

interface PythonPart {
  readonly type: string
  readonly disposition: string
  readonly name: string | null
  /** Content of texts and delivery reports. */
  readonly text: string | null
  readonly size: number | null
}

type Pairs = readonly (readonly [address: string, name: string])[]

interface PythonMail extends Readonly<Record<'from' | 'to' | 'cc' | 'replyTo', Pairs | null>> {
  readonly subject: string | null
  /** Seconds since 1970. */
  readonly date: number | null
  readonly parts: readonly PythonPart[]
}

/** Parses all mails in one process. Undefined for a mail that the package cannot parse. */
export async function pythonReadings(mails: readonly Buffer[]): Promise<readonly (Comparable | undefined)[]> {
  const child = promisify(execFile)('/usr/bin/python3', ['-c', pythonReader], { maxBuffer: 1 << 28, env: { TZ: 'UTC' } })
  child.child.stdin?.end(JSON.stringify(mails.map((mail) => mail.toString('base64'))))
  const found = JSON.parse((await child).stdout) as readonly (PythonMail | null)[]
  return found.map((mail) => (mail ? comparable(readingOfPython(mail)) : undefined))
}

/** Divides the parts into text and files as `readMessage()` does, because the comparison is about decoding, not about this division. */
function readingOfPython({ subject, from, to, cc, replyTo, date, parts }: PythonMail): Parameters<typeof comparable>[0] {
  const shown = (types: RegExp): string =>
    parts
      .filter((part, at) => types.test(part.type) && !isFile(part, at))
      .map(({ text }) => text ?? '')
      .join('\n')
  return {
    ...{ subject: subject ?? undefined, from: pairs(from), to: pairs(to), cc: pairs(cc), replyTo: pairs(replyTo) },
    ...{ date: date === null ? Number.NaN : date * 1000, text: shown(/^text\/plain$|delivery-status$/), html: shown(/^text\/html$/) },
    files: parts.filter(isFile).map(({ name, type, size }) => ({ name, type, size: size ?? undefined })),
  }
}

const pairs = (list: Pairs | null): Address[] | undefined => list?.map(([address, name]) => ({ address, name }))

function isFile({ type, disposition, name }: PythonPart, at: number): boolean {
  if (disposition === 'attachment') return true
  if (type === 'message/delivery-status') return false
  return (type !== 'text/plain' && type !== 'text/html') || (at > 0 && name !== null && name !== '')
}
