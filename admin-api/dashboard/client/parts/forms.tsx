/** Form dialogs with error messages. Irreversible actions require typing a name. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiFault } from '../app/api.ts'
import { isConfirmed } from '../app/boot.ts'
import { asFault } from '../app/query.ts'
import { texts } from '../texts/texts.ts'
import { Dialog, TextField, useBusy } from './controls.tsx'
import { Mark } from './mark.tsx'
import { Confirm, FaultText, isSignedOut, signInAddress } from './states.tsx'
import { toast } from './toast.tsx'

/** Shows an error of a request, with the problems that no field of the form shows. */
export function Fault({ fault }: { readonly fault: ApiFault | undefined }): JSX.Element | null {
  if (!fault || fault.nextAction === 'sign_in_again') return null
  return (
    <div class="note bad" role="alert">
      <Mark name="failed" />
      <p>{isSignedOut(fault) ? texts().signedOut : <Reason fault={fault} />}</p>
      {isSignedOut(fault) && (
        <a class="button small" href={signInAddress(false)} target="_blank" rel="noopener">
          {texts().signIn}
        </a>
      )}
    </div>
  )
}

/** States each problem once: a form shows some at their fields, and the message often repeats a problem. */
function Reason({ fault }: { readonly fault: ApiFault }): JSX.Element {
  const { fields, message } = fault
  const isRepeated = [...fields.values()].some((problem) => message.includes(problem))
  return (
    <>
      {!isRepeated && <FaultText fault={fault} />}
      {isRepeated && fields.others.length === 0 && texts().seeFields}
      {fields.others.map(([path, problem], i) => (
        <span key={path} lang="en">
          {(i > 0 || !isRepeated) && <br />}
          <code>{path}</code> {problem}
        </span>
      ))}
    </>
  )
}

interface FormDialogProps {
  readonly title: string
  readonly submit: string
  /** Label of the button that closes the dialog. Defaults to "Cancel". */
  readonly close?: string
  /** Whether the action requires a recent sign-in. The dialog asks for it first. */
  readonly needsConfirmation?: boolean
  readonly isDangerous?: boolean
  readonly isReady?: boolean
  readonly onClose: () => void
  /** Throws `ApiFault` if the service rejects the request. */
  readonly onSubmit: () => Promise<void>
  readonly children: (fault: ApiFault | undefined) => ComponentChildren
}

export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, submit, close, needsConfirmation = false, isDangerous = false, isReady = true, onClose, onSubmit, children } = props
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const w = texts()
  if ((needsConfirmation && !isConfirmed()) || fault?.nextAction === 'sign_in_again')
    return (
      <Dialog title={title} onClose={onClose}>
        <Confirm />
      </Dialog>
    )
  const run = async (): Promise<void> => {
    setFault(undefined)
    try {
      await onSubmit()
    } catch (error) {
      setFault(asFault(error))
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) start(run)
        }}
      >
        <h2>{title}</h2>
        {children(fault)}
        <Fault fault={fault} />
        <footer>
          <button class="button quiet" type="button" onClick={onClose}>
            {close ?? w.cancel}
          </button>
          <button class={isDangerous ? 'button filled danger' : 'button primary'} aria-disabled={isBusy || !isReady}>
            {submit}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

interface EndDialogProps {
  readonly title: string
  /** Consequences, one per line. */
  readonly effects: readonly string[]
  /** The name to type. */
  readonly name: string
  readonly submit: string
  readonly needsConfirmation?: boolean
  readonly onClose: () => void
  readonly onSubmit: () => Promise<void>
  /** Additional fields. */
  readonly children?: ComponentChildren
}

/** Dialog for irreversible actions. */
export function EndDialog({ name, effects, children, ...rest }: EndDialogProps): JSX.Element {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog {...rest} isDangerous isReady={typed.trim() === name.trim()}>
      {() => (
        <>
          <ul class="effects">
            {effects.map((effect) => (
              <li key={effect}>{effect}</li>
            ))}
          </ul>
          {children}
          <TextField label={texts().typeToConfirm({ name })} value={typed} onChange={setTyped} />
        </>
      )}
    </FormDialog>
  )
}

type Draft = Readonly<Record<string, unknown>>

export interface Fields<D> {
  readonly draft: D
  /** Returns the props of a field. `path` is its API name, if it differs. */
  readonly at: <N extends keyof D & string>(
    name: N,
    path?: string,
  ) => { readonly value: D[N]; readonly onChange: (value: D[N]) => void; readonly fault: string | undefined }
}

interface EditDialogProps<D> extends Pick<FormDialogProps, 'title' | 'onClose'> {
  readonly submit?: string
  /** Initial values. */
  readonly begin: D
  /** Returns an optional confirmation text. */
  readonly onSave: (draft: D) => Promise<string | undefined>
  readonly onDone?: () => void
  readonly children: (fields: Fields<D>) => ComponentChildren
}

/** Dialog that changes the settings of a resource. Fields start with the current values and show their errors. */
export function EditDialog<D extends Draft>({ begin, submit, onSave, onDone, onClose, children, title }: EditDialogProps<D>): JSX.Element {
  const [draft, setDraft] = useState(begin)
  const save = async (): Promise<void> => {
    const said = await onSave(draft)
    if (said !== undefined) toast(said)
    onClose()
    onDone?.()
  }
  return (
    <FormDialog title={title} submit={submit ?? texts().save} onClose={onClose} onSubmit={save}>
      {(fault) =>
        children({
          draft,
          at: (name, path = name) => ({
            value: draft[name],
            onChange: (value) => setDraft((before) => ({ ...before, [name]: value })),
            fault: fault?.fields.get(path),
          }),
        })
      }
    </FormDialog>
  )
}

/** Empty text is null. */
export const numberOrNull = (text: string): number | null => (text.trim() === '' ? null : Number(text))
export const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())
export const textOfNumber = (value: number | null): string => (value === null ? '' : String(value))
