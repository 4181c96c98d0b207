/** Collects the clues in a report that may identify the trace. Does not weigh them. */
import type { FeedbackEvidence } from '#core/feedback/event.ts'
import { addressList } from '../../mime/address-list.ts'
import type { HeaderField } from '../../mime/header-fields.ts'
import { addressesIn, plainAddress, typedAddress } from './mail-address.ts'
import { valuesIn, type FieldGroup } from './status-fields.ts'

const maxEach = 20
const maxValue = 998
const maxReceived = 5
/** Exchange writes its version in the place of the queue ID. */
const version = /^\d{1,2}(?:\.\d{1,5}){2,4}$/
/** Fields that name the recipient of the report, which is the return path of the original message. */
const sentTo = new Set([
  'to',
  'delivered-to',
  'x-original-to',
  'x-delivered-to',
  'envelope-to',
  'x-envelope-to',
  'apparently-to',
  'x-apparently-to',
])
const returnPathFields = new Set(['return-path', 'x-return-path', 'x-envelope-from', 'x-mail-from', 'errors-to', 'sender'])

/** Sources of clues. */
export interface EvidenceSources {
  readonly report: readonly HeaderField[]
  /** The header of the returned message. */
  readonly returned: readonly HeaderField[]
  /** Fields of message/delivery-status or message/feedback-report. */
  readonly groups: readonly FieldGroup[]
}

export function collectEvidence({ report, returned, groups }: EvidenceSources): FeedbackEvidence {
  const named = (fields: readonly HeaderField[], names: (name: string) => boolean): string[] =>
    fields.filter(({ name }) => names(name.toLowerCase())).map(({ value }) => value)
  const valuesOf = (names: (name: string) => boolean): string[] =>
    groups.flatMap(({ fields }) => fields.filter(([name]) => names(name)).map(([, value]) => value))
  const received = named(returned, (name) => name === 'received').slice(0, maxReceived)
  return {
    returnPaths: addresses([
      ...valuesOf((name) => name === 'original-mail-from' || name.endsWith('-sender')),
      ...named(returned, (name) => returnPathFields.has(name)),
      ...received.map((line) => /\(envelope-from\s+([^)\s]{3,322})/i.exec(line)?.[1] ?? ''),
      ...named(report, (name) => sentTo.has(name)),
    ]),
    references: distinct(named(returned, (name) => name === 'x-service-ref')),
    envelopeIds: distinct(valuesOf((name) => name === 'original-envelope-id')),
    messageIds: messageIds([
      ...named(returned, (name) => name === 'message-id'),
      ...valuesOf((name) => name === 'original-message-id' || name === 'x-original-message-id'),
      ...named(report, (name) => name === 'in-reply-to'),
    ]),
    queueIds: distinct([
      ...valuesOf((name) => name.endsWith('-queue-id')),
      ...received.map((line) => /\sid\s+<?([\w.-]{5,100})/.exec(line)?.[1] ?? '').filter((id) => !version.test(id)),
    ]),
    originalTo: addresses(named(returned, (name) => name === 'to')),
  }
}

/** The addresses in the To field of the returned message; empty if they are hidden. */
export const originalTo = (returned: readonly HeaderField[]): string[] =>
  returned
    .filter(({ name }) => name.toLowerCase() === 'to')
    .flatMap(({ value }) => addressList(value))
    .map(({ address }) => address)
    .filter((address) => plainAddress(address) !== undefined)
    .slice(0, maxEach)

/** Values of a field in all groups. */
export const fieldValues = (groups: readonly FieldGroup[], name: string): string[] => groups.flatMap((group) => valuesIn(group, name))

const distinct = (values: readonly string[]): string[] =>
  [...new Set(values.map((value) => value.trim().slice(0, maxValue)))].filter((value) => value !== '').slice(0, maxEach)

const addresses = (values: readonly string[]): string[] => distinct(values.flatMap((value) => typedAddress(value) ?? addressesIn(value)))

const messageIds = (values: readonly string[]): string[] =>
  distinct(
    values.flatMap((value) => /<[^<>\s]{1,996}>/.exec(value)?.[0] ?? (/^[^<>\s]{3,996}$/.test(value.trim()) ? `<${value.trim()}>` : [])),
  )
