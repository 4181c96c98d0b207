/** What every part of the page of a form works on. */
import type { Form, ListedForm } from '../wire/operations.ts'
import type { Editing } from './use-draft.ts'

export interface PartProps {
  readonly form: ListedForm
  readonly editing: Editing
  /** The form as it is now. */
  readonly onChanged: (form: Form) => void
}
