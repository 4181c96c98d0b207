/** File input with a label and a hint. */
import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { texts } from './moving-texts.ts'

interface FileFieldProps {
  readonly hint: string
  readonly accept: string
  readonly isMultiple?: boolean
  readonly onChoose: (files: readonly File[]) => void
}

export function FileField({ hint, accept, isMultiple = false, onChoose }: FileFieldProps): JSX.Element {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{isMultiple ? texts().files : texts().file}</label>
      <input
        id={id}
        class="input"
        type="file"
        accept={accept}
        multiple={isMultiple}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChoose([...(event.currentTarget.files ?? [])])}
      />
      <small id={`${id}-hint`}>{hint}</small>
    </div>
  )
}
