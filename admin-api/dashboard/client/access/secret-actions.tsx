/** Buttons and dialogs for rotating and revoking a credential. */
import type { JSX } from 'preact'
import { mayChange } from '../app/permissions.ts'
import { EndDialog, FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { texts } from '../texts/texts.ts'

export type SecretAction = 'rotate' | 'revoke'

interface ButtonsProps {
  readonly name: string
  /** False if the secret is stored outside Postern. */
  readonly canRotate?: boolean
  readonly onDo: (what: SecretAction) => void
}

export function SecretButtons({ name, canRotate = true, onDo }: ButtonsProps): JSX.Element | null {
  const w = texts()
  if (!mayChange.value) return null
  return (
    <span class="row-buttons">
      {canRotate && (
        <button class="button small" onClick={() => onDo('rotate')} aria-label={w.rotateNamed({ name: plain(name) })}>
          {w.rotate}
        </button>
      )}
      <button class="button small danger" onClick={() => onDo('revoke')} aria-label={w.revokeNamed({ name: plain(name) })}>
        {w.revoke}
      </button>
    </span>
  )
}

interface DialogsProps {
  readonly what: SecretAction
  readonly name: string
  readonly onClose: () => void
  readonly rotate: () => Promise<void>
  readonly revoke: () => Promise<void>
}

export function SecretActionDialog({ what, name, onClose, rotate, revoke }: DialogsProps): JSX.Element {
  const w = texts()
  return what === 'rotate' ? (
    <FormDialog title={w.rotateQuestion({ name: plain(name) })} submit={w.rotate} needsConfirmation onClose={onClose} onSubmit={rotate}>
      {() => <p>{w.rotateText}</p>}
    </FormDialog>
  ) : (
    <EndDialog title={w.revokeQuestion} effects={[w.revokeEffect]} name={name} submit={w.revoke} onClose={onClose} onSubmit={revoke} />
  )
}
