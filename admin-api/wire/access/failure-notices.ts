/** Settings of failure notices on the wire, for SMTP credentials and send-only keys. */
import * as z from 'zod'
import { noticeModes, type NoticeSettings } from '#core/access/notice-settings.ts'
import type { NoticesOfDay } from '#core/tenancy/notice-counters.ts'
import { line } from '../fields/text.ts'

const mode = z.enum(noticeModes).meta({ id: 'FailureNotices' })

export const noticeFields = {
  failure_notices: mode,
  failure_notice_to: z.string().nullable(),
  failure_notices_today: z.object({ sent: z.int(), withheld: z.int() }).meta({
    id: 'FailureNoticesToday',
    description: 'Notices sent on this UTC day, and notices withheld by the limit of 20 per hour and 100 per day.',
  }),
}

export const noticeInput = {
  failure_notices: mode.optional().meta({
    description:
      'Reports to authors when a message fails after acceptance. `auto` (the default): only for ' +
      'clients on this machine or on private networks, and for `postern sendmail`.',
  }),
  failure_notice_to: line(254).nullable().optional().meta({
    description: 'Receives the notices instead of MAIL FROM. An empty string clears it.',
  }),
}

/** The settings with the counts of the current day. */
interface Noticing extends NoticeSettings {
  readonly noticesToday: NoticesOfDay
}

export const noticeCode = {
  failure_notices: ({ failureNotices }: Noticing) => failureNotices ?? 'auto',
  failure_notice_to: ({ failureNoticeTo }: Noticing) => failureNoticeTo ?? null,
  failure_notices_today: ({ noticesToday }: Noticing) => noticesToday,
}
