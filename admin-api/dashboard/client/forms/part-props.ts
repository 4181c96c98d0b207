/** Props of every tab of the form page. */
import type { Form, ListedForm } from '../wire/api.d.ts'
import type { Editing } from './use-draft.ts'

export interface PartProps {
  readonly form: ListedForm
  readonly editing: Editing
  readonly onChanged: (form: Form) => void
}
