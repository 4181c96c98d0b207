/** Menu of an inbound route: change webhook and project, rotate the secret, delete. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { projectRows, projects } from '../app/projects.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog, EndDialog, FormDialog } from '../parts/forms.tsx'
import { MoreMenu } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { toast } from '../parts/toast.tsx'
import type { InboundRoute } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './inbound-texts.ts'
import { takenBy } from './route-address.tsx'

interface MenuProps {
  readonly route: InboundRoute
  readonly onChange: () => void
}

export function RouteMenu({ route, onChange }: MenuProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [open, setOpen] = useState<'edit' | 'rotate' | 'remove'>()
  const close = (): void => setOpen(undefined)
  return (
    <MoreMenu
      acts={(then) => (
        <>
          <button onClick={then(() => setOpen('edit'))}>{w.edit}</button>
          <button onClick={then(() => setOpen('rotate'))}>{common.rotateSecret}</button>
          <button class="bad" onClick={then(() => setOpen('remove'))}>
            {w.remove}
          </button>
        </>
      )}
    >
      {open === 'edit' && <EditRoute route={route} onClose={close} onDone={onChange} />}
      {open === 'rotate' && <RotateSecret route={route} onClose={close} />}
      {open === 'remove' && <EndRoute route={route} onClose={close} />}
    </MoreMenu>
  )
}

interface RouteProps {
  readonly route: InboundRoute
  readonly onClose: () => void
}

function EditRoute({ route, onClose, onDone }: RouteProps & { readonly onDone: () => void }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const save = async ({ url, project }: { readonly url: string; readonly project: string }): Promise<string> => {
    const moved = project === route.project_id ? {} : { project_id: project }
    await call('PATCH /v1/inbound-routes/{id}', { path: { id: route.id }, body: { webhook_url: url.trim(), ...moved } })
    return w.saved
  }
  return (
    <EditDialog
      title={w.edit}
      begin={{ url: route.webhook_url, project: route.project_id }}
      onClose={onClose}
      onSave={save}
      onDone={onDone}
    >
      {({ at }) => (
        <>
          <TextField label={w.webhook} hint={w.webhookHint} type="url" {...at('url', 'webhook_url')} isMono />
          {projects.value.length > 1 && (
            <ChooseField
              label={common.project}
              hint={w.editHint}
              {...at('project', 'project_id')}
              of={projectRows.value}
              options={projects.value.map(({ id, name }) => [id, plain(name)])}
            />
          )}
        </>
      )}
    </EditDialog>
  )
}

function RotateSecret({ route, onClose }: RouteProps): JSX.Element {
  const common = allTexts()
  const [secret, setSecret] = useState<Secret>()
  const name = takenBy(route)
  if (secret) return <SecretDialog secret={secret} onDone={onClose} />
  const rotate = async (): Promise<void> => {
    const { hmac_secret: next } = await call('POST /v1/inbound-routes/{id}/rotate-secret', { path: { id: route.id } })
    setSecret({ title: common.newSecretOf({ name }), fields: [['hmac_secret', next]], note: common.webhookNote })
  }
  return (
    <FormDialog title={common.rotateQuestion({ name })} submit={common.rotate} isDangerous onClose={onClose} onSubmit={rotate}>
      {() => <p>{common.rotateSecretText}</p>}
    </FormDialog>
  )
}

function EndRoute({ route, onClose }: RouteProps): JSX.Element {
  const w = texts()
  return (
    <EndDialog
      title={w.remove}
      effects={[w.removeRefuses, w.removeMail, w.removeDeliveries]}
      name={route.local_part_pattern}
      submit={w.remove}
      onClose={onClose}
      onSubmit={async () => {
        await call('DELETE /v1/inbound-routes/{id}', { path: { id: route.id } })
        toast(allTexts().deleted({ name: takenBy(route) }))
        go(link('/incoming/routes'))
      }}
    />
  )
}
