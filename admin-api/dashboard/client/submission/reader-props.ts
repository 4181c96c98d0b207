/** Props that the list passes to the reader of a submission. */
import type { FormSubmission, ListedForm, Member } from '../wire/api.d.ts'

export interface ReaderProps {
  readonly formId: string
  readonly submissionId: string
  readonly form: ListedForm | undefined
  readonly members: readonly Member[]
  readonly hasNext: boolean
  /** URL of the list. */
  readonly back: string
  readonly onChange: (changed: FormSubmission) => void
  /** Called with a processed submission, or with the id of a deleted one. The list then opens the next submission. */
  readonly onDone: (changed: FormSubmission | string) => void
  readonly onUndone: () => void
  readonly onNext: () => void
}

export type Act = 'archive' | 'spam' | 'unread'
