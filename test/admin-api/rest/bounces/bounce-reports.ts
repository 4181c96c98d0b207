/** Posts bounce reports to a source and reads the diagnosis afterwards. */
import type { Trace } from '#core/trace/trace.ts'
import { addSource, postSigned, returnPathOf, sentMessage, type Source } from '../fixture/ingest-posts.ts'
import type { Fixture } from '../fixture/rest-fixture.ts'

/** A delivery-status part: the group of one recipient, and fields of the returned message. */
export interface StatusReport {
  /** Fields below Final-Recipient, such as `Status: 5.0.0`. */
  readonly fields: readonly string[]
  readonly recipient: string
  readonly text?: string
  /** Fields of the returned header. */
  readonly returned?: readonly string[]
  readonly reportId?: string
}

/** A multipart/report of RFC 3464. */
export const statusReport = ({ fields, recipient, text = 'Sorry.', returned = [], reportId = '' }: StatusReport): string =>
  [
    ...['From: MAILER-DAEMON@mx.example.net', 'To: shop@example.com', 'Subject: Undelivered Mail Returned to Sender'],
    ...(reportId === '' ? [] : [`Message-ID: <${reportId}>`]),
    ...['MIME-Version: 1.0', 'Content-Type: multipart/report; report-type=delivery-status; boundary=bb', '', '--bb'],
    ...[
      'Content-Type: text/plain',
      '',
      text,
      '--bb',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example.net',
      '',
    ],
    ...[
      `Final-Recipient: rfc822; ${recipient}`,
      ...fields,
      '',
      '--bb',
      'Content-Type: text/rfc822-headers',
      '',
      ...returned,
      '',
      '--bb--',
      '',
    ],
  ].join('\r\n')

/** Posts a mail to a source of reports; returns the result for its first event. */
export async function postReport(fixture: Fixture, source: Source, mail: string): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await postSigned(fixture, '/v1/ingest/arf', source, mail)
  return (body['events'] as Readonly<Record<string, unknown>>[])[0] ?? {}
}

/** Returns the bounce part of the diagnosis of a message. */
export const diagnosed = (fixture: Fixture, { id }: Trace): Promise<Readonly<Record<string, unknown>>> =>
  fixture.rest.must('GET', `/v1/diagnose/bounce?message_id=${id}`)

/** Sends a message to kim@example.net, reports its bounce with these fields, and returns the diagnosis. */
export async function bouncedWith(fixture: Fixture, fields: readonly string[], text?: string): Promise<Readonly<Record<string, unknown>>> {
  const recipient = 'kim@example.net'
  const trace = await sentMessage(fixture, [recipient])
  const source = await addSource(fixture, 'arf')
  const returned = [`Return-Path: <${returnPathOf(trace)}>`]
  await postReport(fixture, source, statusReport({ fields, recipient, returned, ...(text !== undefined && { text }) }))
  return diagnosed(fixture, trace)
}
