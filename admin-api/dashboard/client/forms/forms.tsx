/** Screen for forms: the list, and the page of a form. */
import type { JSX } from 'preact'
import type { ScreenProps } from '../app/screen-props.ts'
import { FormList } from './form-list.tsx'
import { FormScreen } from './form-page.tsx'
import '../style/forms.css' with { type: 'css' }

export default function Forms({ rest: [id, part] }: ScreenProps): JSX.Element {
  return id === undefined ? <FormList /> : <FormScreen key={id} id={id} part={part} />
}
