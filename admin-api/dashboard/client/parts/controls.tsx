/** Small controls: copy button, segments, tabs, gauges, form fields and dialogs. */
import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useRef, useState, type Dispatch, type StateUpdater } from 'preact/hooks'
import { texts } from '../texts/shell-texts.ts'
import { Icon, type IconName } from './icon.tsx'
import { newestShown, type MaybeCut } from '../selection/newest.tsx'
import { toast } from './toast.tsx'

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(texts().copied)
  } catch {
    toast(texts().notCopied)
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

/** Switch between a few views of the same content. */
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

/** Filter buttons that limit a list to one kind. */
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

/** Tabs of a page. Arrow keys move between them. */
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
  /** Whether a full gauge is the goal, and not a warning. */
  readonly isProgress?: boolean
}

/** Shows the used share of a limit, from 80 percent on in the warning color. */
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

/** A form control with label, hint and error. */
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

/** Narrows the type, because the JSX types of attributes depend on the literal input type. */
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
  /** The list that the options are from. */
  readonly of?: MaybeCut | undefined
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly (readonly [value: string, label: string])[]
}

export const ChooseField = ({ of, hint, value, onChange, options, ...field }: ChooseFieldProps): JSX.Element => (
  <Field {...field} hint={[hint, of && newestShown(of)].filter(Boolean).join(' ') || undefined}>
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
  /** Called on Escape, and on a click outside unless something was entered. Omit it if only the dialog's buttons may close it. */
  readonly onClose?: (() => void) | undefined
  readonly children: ComponentChildren
}

/** Modal dialog, open while it is mounted. */
export function Dialog({ title, kind = 'dialog', onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const hasInput = useRef(false)
  // a layout effect opens the dialog in the same task, so that the next keystrokes reach it
  useLayoutEffect(() => {
    const { current } = dialog
    const before = document.activeElement
    current?.showModal()
    if (current) current.scrollTop = 0 // the browser may have focused the last button and scrolled to it
    return () => {
      current?.close()
      queueMicrotask(() => giveBack(before)) // after the dialog and its focused element have left the page
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
        // closed by the browser, for example when Escape is pressed twice
        if (dialog.current?.isConnected) (onClose ?? (() => dialog.current?.showModal()))()
      }}
      onInput={() => (hasInput.current = kind !== 'palette')}
      onClick={({ target, detail }) => {
        const isDoubleClick = detail > 1
        if (target === dialog.current && !isDoubleClick && !hasInput.current) onClose?.()
      }}
    >
      {children}
    </dialog>
  )
}

/** Returns the focus to the element that had it. If that element is gone, focuses the title of the screen. */
function giveBack(before: Element | null): void {
  if (document.activeElement !== document.body) return
  if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus()
  if (document.activeElement === document.body) document.getElementById('screen-title')?.focus()
}

/**
 * State of a text field that follows a value, such as a query parameter. A layout effect applies a new value before the next input event,
 * which would otherwise be lost.
 */
export function useTyped<T>(value: T): [T, Dispatch<StateUpdater<T>>] {
  const [typed, setTyped] = useState(value)
  useLayoutEffect(() => setTyped(value), [JSON.stringify(value)])
  return [typed, setTyped]
}

interface Edited {
  readonly typed: string
  readonly setTyped: (typed: string) => void
  /** The stored text, if another person changed it while this text was typed. */
  readonly newer: string | undefined
  /** Replaces the typed text with the stored text. */
  readonly take: () => void
}

/** State of a text field for a stored text that other people change too. A new version does not replace unsaved text. */
export function useEdited(stored: string): Edited {
  const [{ typed, from }, set] = useState({ typed: stored, from: stored })
  const take = (): void => set({ typed: stored, from: stored })
  useLayoutEffect(() => {
    if (typed === from || typed === stored) take()
  }, [stored])
  const newer = stored !== from && typed !== from && typed !== stored ? stored : undefined
  return { typed, setTyped: (next) => set({ typed: next, from }), newer, take }
}

/** Runs slow work from a button. Returns whether it runs, and a function that starts it unless it runs already. */
export function useBusy(): readonly [boolean, (work: () => Promise<void>) => void] {
  const [isBusy, setBusy] = useState(false)
  const start = (work: () => Promise<void>): void => {
    if (isBusy) return
    setBusy(true)
    void work().finally(() => setBusy(false))
  }
  return [isBusy, start]
}
