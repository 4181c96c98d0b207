/** Settings of notices to authors, the same for SMTP logins and send-only keys. */
import type { JSX } from 'preact'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { number } from '../parts/time.ts'
import type { ApiKey } from '../wire/operations.ts'
import { words } from './access-words.ts'

type Noticing = Pick<ApiKey, 'failure_notices' | 'failure_notice_to'>
type Today = ApiKey['failure_notices_today']

/** What is typed: both fields as text. */
export const noticeDraftOf = (record: Noticing) => ({
  notices: record.failure_notices,
  noticeTo: record.failure_notice_to ?? '',
})
type NoticeDraft = ReturnType<typeof noticeDraftOf>

/** Only the fields that changed. */
export const noticeBodyOf = (record: Noticing, { notices, noticeTo }: NoticeDraft) => ({
  ...(notices !== record.failure_notices && { failure_notices: notices }),
  ...(noticeTo !== (record.failure_notice_to ?? '') && { failure_notice_to: noticeTo }),
})

/** How many notices were sent and withheld today, in words. */
export const noticesToday = ({ sent, withheld }: Today): string => words().noticeCounts({ sent: number(sent), withheld: number(withheld) })

interface NoticeProps {
  readonly notices: Bound<Noticing['failure_notices']>
  readonly to: Bound<string>
}

interface Bound<T> {
  readonly value: T
  readonly onChange: (value: T) => void
  readonly fault: string | undefined
}

const modes = ['auto', 'on', 'off'] as const

/** Whether mail of the login or key brings notices about failures, and to whom. */
export function NoticeFields({ notices, to }: NoticeProps): JSX.Element {
  const w = words()
  const choose = (text: string): void => notices.onChange(modes.find((mode) => mode === text) ?? 'auto')
  const options = modes.map((mode) => [mode, w.noticeModes[mode]] as const)
  return (
    <>
      <ChooseField label={w.notices} hint={w.noticesHint} {...notices} onChange={choose} options={options} />
      <TextField label={w.noticeTo} hint={w.noticeToHint} type="email" {...to} />
    </>
  )
}
