/** Dialog that rotates the secret of a bounce source and shows the new one once. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { FormDialog } from '../parts/forms.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './sources-texts.ts'

interface RotateProps {
  readonly id: string
  readonly name: string
  readonly onClose: () => void
}

export function RotateSecret({ id, name, onClose }: RotateProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [secret, setSecret] = useState<Secret>()
  const rotate = async (): Promise<void> => {
    const { hmac_secret: next } = await call('POST /v1/ingest-sources/{id}/rotate-secret', { path: { id } })
    setSecret({ title: w.secretTitle({ name }), fields: [['hmac_secret', next]], note: w.secretNote })
  }
  if (secret) return <SecretDialog secret={secret} onDone={onClose} />
  return (
    <FormDialog title={common.rotateQuestion({ name })} submit={common.rotate} isDangerous onClose={onClose} onSubmit={rotate}>
      {() => <p>{w.rotateEffect}</p>}
    </FormDialog>
  )
}
