/** Settings of failure notices for mail of an SMTP credential or send-only key: whether they are sent, and their recipient. */
import type { Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { addressProblem } from '#config/mail/address-problem.ts'
import { parseExactAddress } from '../addresses.ts'
import { invalid, type FieldProblem } from '../refusals.ts'

/** `auto` sends notices for clients on this machine and on private networks, and for `postern sendmail`. */
export const noticeModes = ['auto', 'on', 'off'] as const

/** Fields of a record. Records of releases without these settings lack both fields. */
export const noticeSettings = {
  /** `auto` when absent. */
  failureNotices: z.enum(noticeModes).optional(),
  /** Recipient of the notices instead of MAIL FROM. */
  failureNoticeTo: z.string().nullable().optional(),
}
export type NoticeSettings = Immutable<z.infer<z.ZodObject<typeof noticeSettings>>>

/** The settings in a record. */
export const noticesIn = ({ failureNotices, failureNoticeTo }: NoticeSettings): NoticeSettings => ({ failureNotices, failureNoticeTo })

/** Returns the given settings in their stored form; an empty address becomes null. Appends invalid values to `problems`. */
export function checkNoticeSettings({ failureNotices, failureNoticeTo: to }: GivenNotices, problems: FieldProblem[]): NoticeSettings {
  const mailbox = to ? parseExactAddress(to) : undefined
  if (to && !mailbox)
    problems.push({ path: 'failure_notice_to', message: addressProblem(to) ?? 'must be a mail address such as admin@example.org' })
  return {
    ...(failureNotices !== undefined && { failureNotices }),
    ...(to !== undefined && { failureNoticeTo: mailbox?.address ?? null }),
  }
}

/** Notice settings of a request. */
export type GivenNotices = { readonly [Field in keyof NoticeSettings]?: NoticeSettings[Field] | undefined }

/**
 * Returns the notice settings of a key. Throws `validation_failed` for invalid values, and for any setting on a key that is not send-only.
 */
export function noticesOfKey(given: GivenNotices, isSendOnly: boolean | undefined): NoticeSettings {
  const problems: FieldProblem[] = []
  const checked = checkNoticeSettings(given, problems)
  const path = checked.failureNotices === undefined ? 'failure_notice_to' : 'failure_notices'
  if (!isSendOnly && Object.keys(checked).length > 0) problems.push({ path, message: 'applies to send-only keys; leave it out' })
  if (problems.length > 0) throw invalid(problems)
  return checked
}
