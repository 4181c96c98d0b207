/** Small controls: copying, one of a few, tabs, gauges, fields of forms, and the frame of dialogs. */
import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useRef, useState, type Dispatch, type StateUpdater } from 'preact/hooks'
import { words } from '../words/shell-words.ts'
import { Icon, type IconName } from './icon.tsx'
import { toast } from './toast.tsx'

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(words().copied)
  } catch {
    toast(words().notCopied)
  }
}

export const CopyButton = ({ text, label }: { readonly text: string; readonly label: string }): JSX.Element => (
  <button class="button quiet square small" type="button" aria-label={label} title={label} onClick={() => void copy(text)}>
    <Icon name="copy" />
  </button>
)

interface Choice<T extends string> {
  readonly value: T
  readonly label: string
  readonly icon?: IconName
}

/** One of a few views of the same thing. */
export const Segments = <T extends string>(props: {
  readonly label: string
  readonly choices: readonly Choice<T>[]
  readonly value: T
  readonly onChoose: (value: T) => void
}): JSX.Element => (
  <div class="segments" role="group" aria-label={props.label}>
    {props.choices.map(({ value, label, icon }) => (
      <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChoose(value)}>
        {icon && <Icon name={icon} />}
        {label}
      </button>
    ))}
  </div>
)

interface Pill<T extends string> {
  /** Empty for all. */
  readonly value: T
  readonly label: ComponentChildren
}

/** What narrows a list to one of its kinds. */
export const Pills = <T extends string>(props: {
  readonly label: string
  readonly pills: readonly Pill<T>[]
  readonly value: T
  readonly onChoose: (value: T) => void
}): JSX.Element => (
  <div class="pills" role="group" aria-label={props.label}>
    {props.pills.map(({ value, label }) => (
      <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChoose(value)}>
        {label}
      </button>
    ))}
  </div>
)

export interface Tab {
  readonly id: string
  readonly label: string
  readonly count?: number | undefined
}

/** Parts of one thing; arrow keys go from one to the next. */
export function Tabs(props: {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly value: string
  readonly onChoose: (id: string) => void
}): JSX.Element {
  const { tabs, value, onChoose } = props
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = (tabs.findIndex(({ id }) => id === value) + step + tabs.length) % tabs.length
    onChoose(tabs[at]?.id ?? value)
    list.current?.querySelectorAll('button')[at]?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={props.label} ref={list} onKeyDown={move}>
      {tabs.map(({ id, label, count }) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === value}
          tabIndex={id === value ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {label}
          {count !== undefined && <span>{count}</span>}
        </button>
      ))}
    </div>
  )
}

interface GaugeProps {
  readonly used: number
  readonly limit: number
  /** To be full is what is wanted. */
  readonly isProgress?: boolean
}

/** How much of a limit is used; from four fifths on in the colour of a warning. */
export function Gauge({ used, limit, isProgress = false }: GaugeProps): JSX.Element {
  const share = limit <= 0 ? 1 : Math.min(1, used / limit)
  const fill = isProgress ? 'fill' : share >= 1 ? 'full' : share >= 0.8 ? 'near' : 'fill'
  return (
    <svg class="gauge" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="back" width="100" height="4" rx="2" />
      <rect class={fill} width={share * 100} height="4" rx="2" />
    </svg>
  )
}

interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  readonly children: (control: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => ComponentChildren
}

/** A control with its label, a hint, and what is wrong with it. */
function Field({ label, hint, fault, children }: FieldProps): JSX.Element {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-hint`, 'aria-invalid': fault !== undefined })}
      <small id={`${id}-hint`} class={fault === undefined ? '' : 'wrong'}>
        {fault ?? hint ?? ''}
      </small>
    </div>
  )
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'datetime-local'
  readonly placeholder?: string
  readonly isMono?: boolean
  readonly isLong?: boolean
}

/** The types of attributes go by the kind of field, which is not known here. */
const kind = (type: string) => ({ type }) as { readonly type: 'text' }

export const TextField = ({ value, onChange, type = 'text', placeholder, isMono, isLong, ...field }: TextFieldProps): JSX.Element => (
  <Field {...field}>
    {(control) =>
      isLong ? (
        <textarea {...control} class="input" value={value} onInput={(event) => onChange(event.currentTarget.value)} />
      ) : (
        <input
          {...control}
          class={`input${isMono ? ' mono' : ''}`}
          {...kind(type)}
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )
    }
  </Field>
)

interface ChooseFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly (readonly [value: string, label: string])[]
}

export const ChooseField = ({ value, onChange, options, ...field }: ChooseFieldProps): JSX.Element => (
  <Field {...field}>
    {(control) => (
      <select {...control} class="input" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface DialogProps {
  readonly title: string
  readonly kind?: 'dialog' | 'drawer' | 'palette'
  /** By Escape and, but for what must not be lost, by a click beside it; left out where only its own buttons close it. */
  readonly onClose?: (() => void) | undefined
  readonly children: ComponentChildren
}

/** A dialog over the page, open as long as it is there. */
export function Dialog({ title, kind = 'dialog', onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  // in the same task as what opens it, so that what is typed right after goes into it
  useLayoutEffect(() => {
    const { current } = dialog
    const before = document.activeElement
    current?.showModal()
    if (current) current.scrollTop = 0 // what has the focus may be its last button
    return () => {
      current?.close()
      queueMicrotask(() => giveBack(before)) // when the dialog is out of the page, and with it what had the focus in it
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      onClose={() => {
        // of its own accord, as browsers do when Escape is pressed twice
        if (dialog.current?.isConnected) (onClose ?? (() => dialog.current?.showModal()))()
      }}
      onClick={(event) => event.target === dialog.current && event.detail < 2 && onClose?.()} // not by the second click on what opened it
    >
      {children}
    </dialog>
  )
}

/** The browser gives the focus back to what had it; where that is gone, or had none, the title of the screen takes it. */
function giveBack(before: Element | null): void {
  if (document.activeElement !== document.body) return
  if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus()
  if (document.activeElement === document.body) document.getElementById('screen-title')?.focus()
}

/**
 * What a person types into a field that follows a value, such as one of the address. When the value changes, it is shown before the
 * browser handles the next input, which would otherwise be lost.
 */
export function useTyped<T>(value: T): [T, Dispatch<StateUpdater<T>>] {
  const [typed, setTyped] = useState(value)
  useLayoutEffect(() => setTyped(value), [JSON.stringify(value)])
  return [typed, setTyped]
}

/** Runs something slow from a button: whether it runs, and a way to start it that does nothing meanwhile. */
export function useBusy(): readonly [boolean, (work: () => Promise<void>) => void] {
  const [isBusy, setBusy] = useState(false)
  const start = (work: () => Promise<void>): void => {
    if (isBusy) return
    setBusy(true)
    void work().finally(() => setBusy(false))
  }
  return [isBusy, start]
}
