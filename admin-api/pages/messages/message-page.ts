/** A stored message for people: HTML in a sandboxed frame, text, headers, source and files. Works without scripts. */
import type { ReadAddress, ReadMessage, ReadResult } from '#core/capture/reading/message-reader.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import type { Answer } from '../../operation/answer.ts'
import { html, type Html } from '../layout/html.ts'
import { page, type Visitor } from '../layout/layout.ts'
import { linkedText } from './linked-text.ts'
import { remoteImages } from './message-frame.ts'
import { inEnglish, numberOf, timeOf } from '../layout/page-texts.ts'
import type { PageTexts } from '../texts/texts-for.ts'

/** A message with related data: it was sent and has a trace, or it was received. */
export interface Shown {
  readonly read: ReadResult
  /** Used if the message cannot be parsed. */
  readonly subject: string
  /** MAIL FROM; empty if it is null. */
  readonly mailFrom: string
  readonly headerFrom: string
  readonly recipients: readonly { readonly address: string; readonly bcc?: boolean | undefined }[]
  readonly arrival: Arrival
  readonly traceId?: string | undefined
}

type MessageTexts = PageTexts['mail']['message']

export interface Arrival {
  readonly how: keyof MessageTexts['arrivals']
  /** In milliseconds since 1970. */
  readonly at: number
  readonly why?: keyof MessageTexts['reasons'] | undefined
}

export interface ShownMessage {
  readonly message: Shown
  readonly source: Source
  /** Path of the page itself, for its tabs. */
  readonly self: string
  /** Path prefix of the parts of the message, without a slash at the end. */
  readonly base: string
  /** Returns the page of a trace by its id. */
  readonly traceAt: (traceId: string) => string
  readonly tab: string | undefined
  readonly showsRemote: boolean
  readonly visitor?: Visitor
  readonly back?: { readonly path: string; readonly title: string }
  readonly texts: PageTexts
}

/** The message source as it would have been sent. */
export interface Source {
  readonly size: number
  /** The visible part of the source. */
  readonly beginning: Uint8Array
}

/** In octets. */
export const maxSourceShown = 256 * 1024

const maxSubjectShown = 200
const maxRecipientsShown = 20

const tabs = ['html', 'text', 'headers', 'source', 'files'] as const

type Tab = (typeof tabs)[number]

export function messagePage(shown: ShownMessage): Answer {
  const { message, visitor, back, self, texts } = shown
  const said = texts.mail.message
  const { arrival, traceId, read } = message
  const subject = shortened((read.ok ? read.message.subject : decodeEncodedWords(message.subject)) || said.withoutSubject)
  const available = tabs.filter((name) => isThere(name, read.ok ? read.message : undefined))
  const chosen = available.find((name) => name === shown.tab) ?? available[0] ?? 'source'
  return page({
    title: subject,
    lang: texts.lang,
    width: 'wide',
    visitor,
    hasFrames: true,
    content: html`${back && html`<p class="meta"><a class="back" href="${back.path}">← ${back.title}</a></p>`}
      <h1 dir="auto">${subject}</h1>
      <dl class="mail">
        ${addressRows(message, texts).map(
          ([label, value]) =>
            html`<dt>${label}</dt>
              <dd dir="auto">${value}</dd>`,
        )}
        <dt>${said.arrivals[arrival.how]}</dt>
        <dd>${timeOf(arrival.at, texts.lang)}${arrival.why !== undefined && `, ${said.reasons[arrival.why]}`}</dd>
        ${
          traceId !== undefined &&
          html`<dt>${texts.trace.trace}</dt>
            <dd><a href="${shown.traceAt(traceId)}">${said.happened}</a></dd>`
        }
      </dl>
      ${!read.ok && html`<p class="note" ${inEnglish(texts)}>${read.unreadable}</p>`}
      ${read.ok && read.message.notes.map(({ sentence }) => html`<p class="note" ${inEnglish(texts)}>${sentence}</p>`)}
      <nav class="tabs" aria-label="${said.views}">
        ${available.map(
          (name) => html`<a href="${self}?tab=${name}" ${name === chosen && html`aria-current="page"`}>${said.tabs[name]}</a>`,
        )}
      </nav>
      <section class="sheet" aria-label="${said.tabs[chosen]}">${contentOf(chosen, shown)}</section>`,
  })
}

/** Returns the non-empty address fields of the message. Recipients in no field are blind copies. */
function addressRows(
  { mailFrom, headerFrom, recipients: all, read }: Shown,
  texts: PageTexts,
): (readonly [label: string, value: string])[] {
  const said = texts.mail.message
  const listed = (addresses: readonly string[]): string => recipients(addresses, texts)
  const blind = all.filter(({ bcc }) => bcc === true).map(({ address }) => address)
  const sender = headerFrom || mailFrom
  if (!read.ok)
    return [
      [said.from, sender],
      [said.to, listed(all.map(({ address }) => address))],
    ]
  const { from, to, cc, bcc, replyTo } = read.message
  const isPlainSender = from.some(({ address }) => address.toLowerCase() === mailFrom.toLowerCase())
  const rows = [
    [said.from, listed(from.map(named)) || sender],
    [said.envelopeSender, isPlainSender ? '' : mailFrom || '<>'],
    [said.to, listed(to.map(named))],
    [said.cc, listed(cc.map(named))],
    [said.bcc, listed([...new Set([...bcc.map(named), ...blind])])],
    [said.replyTo, listed(replyTo.map(named))],
  ] as const
  return rows.filter(([, value]) => value !== '')
}

export const named = ({ name, address }: ReadAddress): string => (name === '' ? address : `${shortened(name)} <${address}>`)

/** Shortens a subject, which has no length limit. The Headers tab shows all of it. */
export function shortened(subject: string): string {
  const characters = [...subject.slice(0, 2 * maxSubjectShown + 2)]
  return characters.length > maxSubjectShown ? `${characters.slice(0, maxSubjectShown).join('')}…` : subject
}

/** Returns the first addresses, and the number of further addresses. */
export function recipients(addresses: readonly string[], { mail }: PageTexts, most = maxRecipientsShown): string {
  const more = addresses.length - most
  const shown = addresses.slice(0, most).join(', ')
  return more > 0 ? mail.message.andMore({ shown, more }) : shown
}

const isThere = (tab: Tab, message: ReadMessage | undefined): boolean => {
  if (!message) return tab === 'source'
  if (tab === 'html') return message.document.html !== ''
  return tab !== 'files' || message.attachments.length > 0
}

function contentOf(tab: Tab, shown: ShownMessage): Html {
  const { base, source, texts } = shown
  const said = texts.mail.message
  const { read } = shown.message
  if (tab === 'source' || !read.ok) {
    const text = Buffer.from(source.beginning).toString('utf8')
    return html`<p><a class="button quiet" href="${base}/raw">${said.download}</a></p>
      ${source.size > maxSourceShown && html`<p class="meta">${said.first({ kibibytes: maxSourceShown / 1024 })}</p>`}
      <pre tabindex="0">${text}</pre>`
  }
  const { message } = read
  if (tab === 'html') return framed(shown, message)
  if (tab === 'text') return html`<pre class="text" tabindex="0">${linkedText(message.text)}</pre>`
  if (tab === 'files') return files(base, message, texts)
  return html`<dl class="fields">
    ${message.headers.map(
      ({ name, value }) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}

export function framed(
  { base, self, showsRemote, texts }: Pick<ShownMessage, 'base' | 'self' | 'showsRemote' | 'texts'>,
  message: ReadMessage,
): Html {
  const said = texts.mail.message
  const count = remoteImages(message)
  return html`${
      count > 0 &&
      !showsRemote &&
      html`<form class="remote" method="get" action="${self}">
        <input type="hidden" name="tab" value="html" /><input type="hidden" name="images" value="1" />
        <p>${said.remote({ count })}</p>
        <button class="quiet">${said.showRemote}</button>
      </form>`
    }
    <iframe
      title="${said.asHtml}"
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerpolicy="no-referrer"
      src="${base}/html${showsRemote && '?images=1'}"
    ></iframe>`
}

export const files = (base: string, { attachments }: ReadMessage, { lang, mail: { message } }: PageTexts): Html =>
  html`<ul class="files">
    ${attachments.map(
      ({ filename, contentType, size, fromTnef }, index) =>
        html`<li>
          <a href="${base}/attachments/${index}">${filename}</a>
          <span class="meta">${contentType}, ${message.bytes({ size: numberOf(size, lang) })}${fromTnef ? ', winmail.dat' : ''}</span>
        </li>`,
    )}
  </ul>`
