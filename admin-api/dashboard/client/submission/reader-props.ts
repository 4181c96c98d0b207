/** What the reader of a submission is given by the list beside it. */
import type { FormSubmission, ListedForm, Member } from '../wire/operations.ts'

export interface ReaderProps {
  readonly formId: string
  readonly submissionId: string
  readonly form: ListedForm | undefined
  readonly members: readonly Member[]
  readonly hasNext: boolean
  /** The list. */
  readonly back: string
  /** It is otherwise than before. */
  readonly onChange: (changed: FormSubmission) => void
  /** It is dealt with, or gone, where only its id is left: the next one follows. */
  readonly onDone: (changed: FormSubmission | string) => void
  readonly onUndone: () => void
  readonly onNext: () => void
}

export type Act = 'archive' | 'spam' | 'unread'
