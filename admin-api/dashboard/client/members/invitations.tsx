/** Pending invitations. If the service cannot send mail, an administrator passes on the link. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { mayAdminister } from '../app/permissions.ts'
import { useList, type Listing } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { Invitation, OpenedInvitation } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './members-texts.ts'
import { RoleField, type Role } from './role-field.tsx'

interface InvitationsProps {
  readonly isMaking: boolean
  readonly onClose: () => void
}

export function Invitations({ isMaking, onClose }: InvitationsProps): JSX.Element {
  const w = texts()
  const list = useList('/v1/invitations', {}, { isShown: false })
  const [again, setAgain] = useState<Invitation>()
  const [revoked, setRevoked] = useState<Invitation>()
  const [opened, setOpened] = useState<OpenedInvitation>()
  const show = (invitation: OpenedInvitation): void => {
    onClose()
    setAgain(undefined)
    list.reload()
    if (invitation.accept_url === null) toast(w.invited({ email: plain(invitation.email) }))
    else setOpened(invitation)
  }
  return (
    <section aria-labelledby="invitations">
      <div class="head">
        <h2 id="invitations">{w.invitations}</h2>
      </div>
      <Rows list={list} onAgain={setAgain} onRevoke={setRevoked} />
      {isMaking && <Invite onClose={onClose} onOpened={show} />}
      {again && (
        <FormDialog
          title={w.sendAgainTo({ email: plain(again.email) })}
          submit={w.sendAgain}
          needsConfirmation
          onClose={() => setAgain(undefined)}
          onSubmit={async () => show(await call('POST /v1/invitations/{id}/resend', { path: { id: again.id } }))}
        >
          {() => <p>{w.sendAgainText}</p>}
        </FormDialog>
      )}
      {revoked && <Revoke invitation={revoked} onClose={() => setRevoked(undefined)} onDone={list.reload} />}
      {opened && (
        <SecretDialog
          secret={{
            title: w.invitationOf({ email: plain(opened.email) }),
            fields: [['accept_url', opened.accept_url ?? '']],
            note: w.handOver,
          }}
          onDone={() => setOpened(undefined)}
        />
      )}
    </section>
  )
}

interface RevokeProps {
  readonly invitation: Invitation
  readonly onClose: () => void
  readonly onDone: () => void
}

function Revoke({ invitation: { id, email }, onClose, onDone }: RevokeProps): JSX.Element {
  const w = texts()
  const revoke = async (): Promise<void> => {
    await call('DELETE /v1/invitations/{id}', { path: { id } })
    toast(w.invitationRevoked({ email: plain(email) }))
    onClose()
    onDone()
  }
  return (
    <FormDialog
      title={w.revokeInvitation({ email: plain(email) })}
      submit={allTexts().revoke}
      isDangerous
      onClose={onClose}
      onSubmit={revoke}
    >
      {() => <p>{w.revokeInvitationText}</p>}
    </FormDialog>
  )
}

interface RowsProps {
  readonly list: Listing<Invitation>
  readonly onAgain: (invitation: Invitation) => void
  readonly onRevoke: (invitation: Invitation) => void
}

function Rows({ list, onAgain, onRevoke }: RowsProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const actions = (invitation: Invitation): JSX.Element | string =>
    mayAdminister.value ? (
      <span class="row-buttons">
        <button class="button small" onClick={() => onAgain(invitation)} aria-label={`${w.sendAgain}: ${plain(invitation.email)}`}>
          {w.sendAgain}
        </button>
        <button
          class="button small danger"
          onClick={() => onRevoke(invitation)}
          aria-label={`${common.revoke}: ${plain(invitation.email)}`}
        >
          {common.revoke}
        </button>
      </span>
    ) : (
      ''
    )
  return (
    <List
      label={w.invitations}
      list={list}
      failure={w.invitationsFailed}
      keyOf={({ id }) => id}
      empty={<p class="no-rows soft">{w.noInvitations}</p>}
      columns={[
        { head: w.emailAddress, class: 'strong', cell: ({ email }) => <SafeText text={email} /> },
        { head: w.role, class: 'c-status', cell: ({ role }) => role },
        { head: common.status, class: 'c-outcome', cell: ({ status }) => <InvitationStatus status={status} /> },
        { head: common.expires, class: 'c-outcome', cell: ({ expires_at: at }) => <Moment at={at} /> },
        { head: '', class: 'c-members num', cell: actions },
      ]}
      narrow={(invitation) => [
        <Mark name={invitation.status === 'open' ? 'pending' : 'canceled'} />,
        <SafeText text={invitation.email} />,
        `${invitation.role} · ${shortTime(invitation.expires_at)}`,
        actions(invitation),
      ]}
    />
  )
}

const InvitationStatus = ({ status }: Pick<Invitation, 'status'>): JSX.Element => (
  <span class="status">
    <Mark name={status === 'open' ? 'pending' : 'canceled'} />
    {status}
  </span>
)

interface InviteProps {
  readonly onClose: () => void
  readonly onOpened: (invitation: OpenedInvitation) => void
}

function Invite({ onClose, onOpened }: InviteProps): JSX.Element {
  const w = texts()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  return (
    <FormDialog
      title={w.invite}
      submit={w.sendInvitation}
      needsConfirmation
      onClose={onClose}
      onSubmit={async () => onOpened(await call('POST /v1/invitations', { body: { email, role } }))}
    >
      {(fault) => (
        <>
          <TextField label={w.emailAddress} type="email" value={email} onChange={setEmail} fault={fault?.fields.get('email')} />
          <RoleField role={role} onChange={setRole} />
        </>
      )}
    </FormDialog>
  )
}
