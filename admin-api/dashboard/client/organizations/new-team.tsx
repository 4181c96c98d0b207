/** Form that creates a team organization and shows its first key once. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { organizations } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import type { MadeOrganization } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './organizations-texts.ts'

interface NewTeamProps {
  readonly onClose: () => void
  readonly onMade: () => void
}

export function NewTeam({ onClose, onMade }: NewTeamProps): JSX.Element {
  const w = texts()
  const [name, setName] = useState('')
  const [made, setMade] = useState<MadeOrganization>()
  const make = async (): Promise<void> => {
    const team = await call('POST /v1/organizations', { body: { name } })
    setMade(team)
    organizations.value = [...organizations.value, { id: team.id, name: team.name, role: 'owner' }]
    onMade()
  }
  if (made)
    return (
      <SecretDialog
        secret={{
          title: w.newTeamKey({ name: plain(made.name) }),
          fields: [
            ['organization_id', made.id],
            ['api_key', made.api_key],
          ],
          note: w.newTeamKeyNote,
        }}
        onDone={onClose}
      />
    )
  return (
    <FormDialog
      title={w.newTeamTitle}
      submit={allTexts().create}
      needsConfirmation
      isReady={name.trim() !== ''}
      onClose={onClose}
      onSubmit={make}
    >
      {(fault) => (
        <>
          <p>{w.newTeamText}</p>
          <TextField label={allTexts().name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
        </>
      )}
    </FormDialog>
  )
}
