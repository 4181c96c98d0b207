/** The results of three parsers in one form, without differences in white space. */
import { safeFilename } from '#config/mail/file-names.ts'
import { safeContentType } from '#ingest/mime/media-type.ts'

export const comparedFields = ['subject', 'from', 'to', 'cc', 'replyTo', 'names', 'date', 'text', 'html', 'files', 'sizes'] as const

/** Undefined if the parser failed on the field. */
export type Comparable = Readonly<Record<(typeof comparedFields)[number], string | undefined>>

export interface Address {
  readonly address: string
  readonly name: string
}

export interface File {
  readonly name: string | null | undefined
  readonly type: string
  /** Octets; undefined if the parser does not return the size. */
  readonly size: number | undefined
}

export interface Reading {
  readonly subject: string | undefined
  readonly from: readonly Address[] | undefined
  readonly to: readonly Address[] | undefined
  readonly cc: readonly Address[] | undefined
  readonly replyTo: readonly Address[] | undefined
  /** Milliseconds since 1970; NaN without a date. */
  readonly date: number
  readonly text: string
  readonly html: string
  readonly files: readonly File[]
}

export function comparable(reading: Reading): Comparable {
  const { subject, from, to, cc, replyTo, date, text, html, files } = reading
  return {
    subject: subject === undefined ? undefined : squeezed(subject),
    from: addressesOf(from),
    to: addressesOf(to),
    cc: addressesOf(cc),
    replyTo: addressesOf(replyTo),
    names: withAddress([...(from ?? []), ...(to ?? []), ...(cc ?? [])])
      .map(({ name }) => squeezed(name))
      .join(' | '),
    date: Number.isNaN(date) ? '' : new Date(Math.floor(date / 1000) * 1000).toISOString(),
    text: squeezed(text),
    html: wordsOf(html),
    files: files.map(({ name, type }) => safeFilename(name ?? undefined, safeContentType(type))).join(' | '),
    sizes: files.map(({ size }) => size ?? '?').join(' | '),
  }
}

/** Removes names without an at sign, which postal-mime lists and `readMessage()` omits by design. */
const withAddress = (list: readonly Address[]): readonly Address[] => list.filter(({ address }) => address.includes('@'))

const addressesOf = (list: readonly Address[] | undefined): string | undefined =>
  list &&
  withAddress(list)
    .map(({ address }) => address.toLowerCase())
    .join(', ')

const squeezed = (text: string): string => text.replaceAll(/[\s\0\u00a0\ufeff]+/g, ' ').trim()

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'", '#x27': "'", nbsp: '', '#160': '' }

/** The words between tags, without white space. */
const wordsOf = (html: string): string =>
  squeezed(
    html.replaceAll(/<!--[^]*?-->|<[^>]*>/g, ' ').replaceAll(/&(#?\w+);/g, (whole, name: string) => entities[name.toLowerCase()] ?? whole),
  ).replaceAll(' ', '')

/** Sizes may differ by a line end, which some parsers count before a delimiter. An unknown size equals any size. */
export function agree(field: string, one: string | undefined, other: string | undefined): boolean {
  if (field !== 'sizes' || one === undefined || other === undefined) return one === other
  const [ours, theirs] = [one.split(' | '), other.split(' | ')]
  return ours.length === theirs.length && ours.every((size, at) => isNear(size, theirs[at] ?? ''))
}

const isNear = (one: string, other: string): boolean =>
  one === other || one === '?' || other === '?' || Math.abs(Number(one) - Number(other)) <= 2
