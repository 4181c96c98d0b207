/**
 * Text area for code with line numbers and a jump target. A plain `textarea` keeps Tab, screen readers and spell checking working. A code
 * editor library would be larger than all other dashboard code.
 */
import type { JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

export interface Place {
  readonly line: number
  readonly column: number
}

interface CodeFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isReadOnly?: boolean
  readonly isInvalid?: boolean
  readonly hint?: string
  /** Cursor position to jump to when it changes. */
  readonly place?: Place | undefined
  readonly isShort?: boolean
}

const lineHeight = 18

export function CodeField({ label, value, onChange, isReadOnly, isInvalid = false, hint, place, isShort }: CodeFieldProps): JSX.Element {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLDivElement>(null)
  const lines = value.split('\n').length
  useEffect(() => {
    const { current } = field
    if (!place || !current) return
    const before = value.split('\n').slice(0, place.line - 1)
    const at = before.reduce((sum, line) => sum + line.length + 1, 0) + place.column - 1
    current.focus()
    current.setSelectionRange(at, at)
    current.scrollTop = Math.max(0, (place.line - 5) * lineHeight)
  }, [place])
  return (
    <div class={isShort ? 'code-field short' : 'code-field'}>
      <label class={hint === undefined ? 'hidden' : 'label'} for={id}>
        {label}
      </label>
      <div class="code-box">
        <div class="gutter" ref={gutter} aria-hidden="true">
          {Array.from({ length: Math.min(lines, maxNumbers) }, (_, i) => `${String(i + 1)}\n`).join('')}
        </div>
        <textarea
          id={id}
          ref={field}
          value={value}
          readOnly={isReadOnly}
          spellcheck={false}
          autocapitalize="off"
          wrap="off"
          aria-invalid={isInvalid}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          onInput={(event) => onChange(event.currentTarget.value)}
          onScroll={(event) => gutter.current && (gutter.current.scrollTop = event.currentTarget.scrollTop)}
        />
      </div>
      {hint !== undefined && (
        <small id={`${id}-hint`} class={isInvalid ? 'wrong' : 'faint'}>
          {hint}
        </small>
      )}
    </div>
  )
}

/** Limit of line numbers, above the length of any template. */
const maxNumbers = 20_000
