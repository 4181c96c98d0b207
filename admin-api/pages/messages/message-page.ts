/** A stored message for people: as HTML in a sandboxed frame, as text, its headers, its source and its files. Works without scripts. */
import type { ReadAddress, ReadMessage, ReadResult } from '#core/capture/reading/message-reader.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import type { Answer } from '../../operation/answer.ts'
import { html, type Html } from '../layout/html.ts'
import { page, type Visitor } from '../layout/layout.ts'
import { linkedText } from './linked-text.ts'
import { remoteImages } from './message-frame.ts'

/** A message with what is known of it besides: it was sent and has a trace, or it came in. */
export interface Shown {
  readonly read: ReadResult
  /** For a message that could not be read. */
  readonly subject: string
  /** Reverse-path; empty when it is null. */
  readonly mailFrom: string
  readonly headerFrom: string
  readonly recipients: readonly { readonly address: string; readonly bcc?: boolean | undefined }[]
  readonly arrival: Arrival
  readonly traceId?: string | undefined
}

export interface Arrival {
  readonly how: 'Captured' | 'Accepted' | 'Received'
  /** In milliseconds since 1970. */
  readonly at: number
  readonly why?: string | undefined
}

export interface ShownMessage {
  readonly message: Shown
  readonly source: Source
  /** Path of the page itself, for its tabs. */
  readonly self: string
  /** Path under which the parts of the message are, without a slash at the end. */
  readonly base: string
  /** The page of a trace by its id. */
  readonly traceAt: (traceId: string) => string
  readonly tab: string | undefined
  readonly showsRemote: boolean
  readonly visitor?: Visitor
  readonly back?: { readonly path: string; readonly title: string }
}

/** The message as it would have been sent. */
export interface Source {
  readonly size: number
  /** As much of it as is shown. */
  readonly beginning: Uint8Array
}

/** Octets. */
export const maxSourceShown = 256 * 1024

const maxSubjectShown = 200
const maxRecipientsShown = 20

const tabs = [
  ['html', 'HTML'],
  ['text', 'Text'],
  ['headers', 'Headers'],
  ['source', 'Source'],
  ['files', 'Files'],
] as const

type Tab = (typeof tabs)[number][0]

export function messagePage(shown: ShownMessage): Answer {
  const { message, visitor, back, self } = shown
  const { arrival, traceId, read } = message
  const subject = shortened((read.ok ? read.message.subject : decodeEncodedWords(message.subject)) || 'Without a subject')
  const available = tabs.filter(([name]) => isThere(name, read.ok ? read.message : undefined))
  const chosen = available.find(([name]) => name === shown.tab)?.[0] ?? available[0]?.[0] ?? 'source'
  return page({
    title: subject,
    width: 'wide',
    visitor,
    hasFrames: true,
    content: html`${back && html`<p class="meta"><a class="back" href="${back.path}">← ${back.title}</a></p>`}
      <h1 dir="auto">${subject}</h1>
      <dl class="mail">
        ${addressRows(message).map(
          ([label, value]) =>
            html`<dt>${label}</dt>
              <dd dir="auto">${value}</dd>`,
        )}
        <dt>${arrival.how}</dt>
        <dd>${utc(arrival.at)} UTC${arrival.why !== undefined && `, ${arrival.why}`}</dd>
        ${
          traceId !== undefined &&
          html`<dt>Trace</dt>
            <dd><a href="${shown.traceAt(traceId)}">What happened to this message</a></dd>`
        }
      </dl>
      ${!read.ok && html`<p class="note">${read.unreadable}</p>`}
      <nav class="tabs" aria-label="Views of the message">
        ${available.map(
          ([name, label]) => html`<a href="${self}?tab=${name}" ${name === chosen && html`aria-current="page"`}>${label}</a>`,
        )}
      </nav>
      <section class="sheet" aria-label="${tabs.find(([name]) => name === chosen)?.[1]}">${contentOf(chosen, shown)}</section>`,
  })
}

const utc = (at: number): string => new Date(at).toISOString().replace('T', ' ').slice(0, 19)

/** The address fields as the message has them; who got it without being named is a blind copy. Empty ones are left out. */
function addressRows({ mailFrom, headerFrom, recipients: all, read }: Shown): (readonly [label: string, value: string])[] {
  const blind = all.filter(({ bcc }) => bcc === true).map(({ address }) => address)
  const sender = headerFrom || mailFrom
  if (!read.ok)
    return [
      ['From', sender],
      ['To', recipients(all.map(({ address }) => address))],
    ]
  const { from, to, cc, bcc, replyTo } = read.message
  const isPlainSender = from.some(({ address }) => address.toLowerCase() === mailFrom.toLowerCase())
  const rows = [
    ['From', recipients(from.map(named)) || sender],
    ['Envelope sender', isPlainSender ? '' : mailFrom || '<>'],
    ['To', recipients(to.map(named))],
    ['Cc', recipients(cc.map(named))],
    ['Bcc', recipients([...new Set([...bcc.map(named), ...blind])])],
    ['Reply-To', recipients(replyTo.map(named))],
  ] as const
  return rows.filter(([, value]) => value !== '')
}

export const named = ({ name, address }: ReadAddress): string => (name === '' ? address : `${shortened(name)} <${address}>`)

/** Subjects are as long as their writers want; all of it stands under Headers. */
export function shortened(subject: string): string {
  const characters = [...subject.slice(0, 2 * maxSubjectShown + 2)]
  return characters.length > maxSubjectShown ? `${characters.slice(0, maxSubjectShown).join('')}…` : subject
}

/** The first of them, and how many more there are. */
export function recipients(addresses: readonly string[], most = maxRecipientsShown): string {
  const more = addresses.length - most
  return addresses.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

const isThere = (tab: Tab, message: ReadMessage | undefined): boolean => {
  if (!message) return tab === 'source'
  if (tab === 'html') return message.document.html !== ''
  return tab !== 'files' || message.attachments.length > 0
}

function contentOf(tab: Tab, shown: ShownMessage): Html {
  const { base, source } = shown
  const { read } = shown.message
  if (tab === 'source' || !read.ok) {
    const text = Buffer.from(source.beginning).toString('utf8')
    return html`<p><a class="button quiet" href="${base}/raw">Download the message</a></p>
      ${source.size > maxSourceShown && html`<p class="meta">The first ${maxSourceShown / 1024} KiB:</p>`}
      <pre tabindex="0">${text}</pre>`
  }
  const { message } = read
  if (tab === 'html') return framed(shown, message)
  if (tab === 'text') return html`<pre class="text" tabindex="0">${linkedText(message.text)}</pre>`
  if (tab === 'files') return files(base, message)
  return html`<dl class="fields">
    ${message.headers.map(
      ({ name, value }) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}

export function framed({ base, self, showsRemote }: Pick<ShownMessage, 'base' | 'self' | 'showsRemote'>, message: ReadMessage): Html {
  const count = remoteImages(message)
  return html`${
      count > 0 &&
      !showsRemote &&
      html`<form class="remote" method="get" action="${self}">
        <input type="hidden" name="tab" value="html" /><input type="hidden" name="images" value="1" />
        <p>${count === 1 ? 'One image' : `${count} images`} of other servers ${count === 1 ? 'was' : 'were'} not loaded.</p>
        <button class="quiet">Show remote images</button>
      </form>`
    }
    <iframe
      title="The message as HTML"
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerpolicy="no-referrer"
      src="${base}/html${showsRemote && '?images=1'}"
    ></iframe>`
}

export const files = (base: string, { attachments }: ReadMessage): Html =>
  html`<ul class="files">
    ${attachments.map(
      ({ filename, contentType, size }, index) =>
        html`<li><a href="${base}/attachments/${index}">${filename}</a> <span class="meta">${contentType}, ${size} bytes</span></li>`,
    )}
  </ul>`
