/** Timeline entries for notices to the author. The public view excludes them, because a notice may concern a blind copy. */
import { maxNotices } from '../notices/due-notices.ts'
import type { NoticeBar, TraceNotice } from '../notices/trace-notice.ts'
import type { Trace } from '../trace.ts'
import type { TimelineEntry } from './send-timeline.ts'

const barTexts: Readonly<Record<NoticeBar, string>> = {
  limit: 'its SMTP credential or key has reached its limit of 20 notices per hour or 100 per day',
  no_way:
    'its destination does not keep the envelope sender, and the service has no system destination; configure POSTERN_SYSTEM_DESTINATION',
  off: 'notices were turned off in the meantime',
  none_left: 'the message was sent again in the meantime, or the author is the recipient',
  refused: 'the service could not accept the notice',
}

export const noticeEntries = ({ notices = [], recipients, noticeTo }: Trace): TimelineEntry[] =>
  notices.flatMap((notice, i) => {
    if (notice.at === undefined) return []
    const about = recipients.filter((one) => one.notice === i + 1).map(({ address }) => address)
    return [noticeEntry(notice, notice.at, noticeTo ?? '', about)]
  })

function noticeEntry(
  { traceId, isSystemMail, withheld }: TraceNotice,
  at: number,
  to: string,
  recipients: readonly string[],
): TimelineEntry {
  const detail = { to, recipients, notice_trace_id: isSystemMail ? null : (traceId ?? null), reason: withheld ?? null }
  if (withheld) return { at, event: 'notice_withheld', message: `No notice was sent to the author ${to}: ${barTexts[withheld]}.`, detail }
  return {
    at,
    event: 'author_notified',
    message: `A notice about the failure was sent to the author ${to}, one of at most ${maxNotices}.`,
    detail,
  }
}
