/** Publishable keys for web pages: allowed origins, recipients and rates, and the snippet to paste. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, linkHere, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { number } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { PublishableKey } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { SecretActionDialog, SecretButtons, type SecretAction } from '../access/secret-actions.tsx'
import { firstPage, SecretsScreen, type SecretsProps } from '../access/secrets-screen.tsx'
import { Gates } from './gates.tsx'
import { KeyUse } from './key-use.tsx'
import { NewPublishable } from './new-publishable.tsx'
import { texts } from './publishable-texts.ts'
import { SnippetDialog } from './snippet-dialog.tsx'

export default function PublishableKeys(): JSX.Element {
  const { browserKeys, newBrowserKey } = allTexts().sections
  return (
    <SecretsScreen title={browserKeys} makes={newBrowserKey} list={useList('/v1/publishable-keys', firstPage())}>
      {(props) => <Keys {...props} />}
    </SecretsScreen>
  )
}

const nameOf = ({ name, key_preview: preview }: PublishableKey): string => name || preview

function Keys({ list, isMaking, onClose, onSecret }: SecretsProps<PublishableKey>): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [doing, setDoing] = useState<{ readonly what: SecretAction | 'snippet'; readonly key: PublishableKey }>()
  const opened = list.read.data?.find(({ id }) => id === query.value.get('key'))
  return (
    <>
      <List
        label={common.sections.browserKeys}
        list={list}
        failure={w.publishableFailed}
        keyOf={({ id }) => id}
        empty={
          <State title={w.noPublishable} text={w.noPublishableText}>
            <Gates />
            {mayChange.value && (
              <div class="actions">
                <a class="button primary" href={linkHere({ new: '1' })}>
                  {allTexts().sections.newBrowserKey}
                </a>
              </div>
            )}
          </State>
        }
        columns={[
          { head: common.name, class: 'tall strong', cell: (key) => <Name publishable={key} /> },
          { head: w.origins, cell: ({ allowed_origins: origins }) => <SafeText text={origins.join(', ')} /> },
          { head: w.recipients, cell: ({ allowed_to: to }) => <SafeText text={to.join(', ')} /> },
          { head: w.rate, class: 'c-path', cell: (key) => rateOf(key) },
          { head: common.status, class: 'c-time', cell: ({ status }) => <KeyStatus status={status} /> },
          { head: '', class: 'c-members num', cell: (key) => <Actions publishable={key} onDo={(what) => setDoing({ what, key })} /> },
        ]}
        narrow={(key) => [
          <Mark name={key.status === 'active' ? 'ok' : 'canceled'} />,
          <Named publishable={key} />,
          plain(key.allowed_origins.join(', ')),
          <Actions publishable={key} onDo={(what) => setDoing({ what, key })} />,
        ]}
      />
      {opened && <KeyUse publishable={opened} name={nameOf(opened)} onClose={() => go(linkHere({ key: '' }), { replaces: true })} />}
      {isMaking && <NewPublishable onClose={onClose} onSecret={onSecret} />}
      {doing?.what === 'snippet' && <SnippetDialog publishable={doing.key} onClose={() => setDoing(undefined)} />}
      {doing && doing.what !== 'snippet' && (
        <SecretActionDialog
          what={doing.what}
          name={nameOf(doing.key)}
          onClose={() => setDoing(undefined)}
          rotate={async () => {
            const made = await call('POST /v1/publishable-keys/{id}/rotate', { path: { id: doing.key.id } })
            setDoing(undefined)
            onSecret({
              title: common.newSecretOf({ name: plain(nameOf(made)) }),
              fields: [['publishable_key', made.raw_token ?? '']],
              note: `${w.rotateHint} ${w.publishableNote}`,
            })
          }}
          revoke={async () => {
            await call('DELETE /v1/publishable-keys/{id}', { path: { id: doing.key.id } })
            setDoing(undefined)
            toast(common.revoked({ name: plain(nameOf(doing.key)) }))
            list.reload()
          }}
        />
      )}
    </>
  )
}

interface ActionsProps {
  readonly publishable: PublishableKey
  readonly onDo: (what: SecretAction | 'snippet') => void
}

const Actions = ({ publishable, onDo }: ActionsProps): JSX.Element | null =>
  publishable.status === 'active' ? (
    <span class="row-buttons">
      <button
        class="button small"
        onClick={() => onDo('snippet')}
        aria-label={`${texts().snippet}: ${plain(nameOf(publishable))}`}
        title={texts().snippet}
      >
        {'</>'}
      </button>
      <SecretButtons name={nameOf(publishable)} onDo={onDo} />
    </span>
  ) : null

const rateOf = ({ rates: { per_ip_hour: ip, per_key_day: day } }: PublishableKey): string =>
  texts().rateOf({ ip: bound(ip), day: bound(day) })

const bound = (most: number): string => (most === 0 ? allTexts().withoutLimit : number(most))

/** Name of a key, with a link to its usage. */
const Named = ({ publishable }: { readonly publishable: PublishableKey }): JSX.Element => (
  <a href={linkHere({ key: publishable.id })}>
    <SafeText text={nameOf(publishable)} />
  </a>
)

const Name = ({ publishable }: { readonly publishable: PublishableKey }): JSX.Element => (
  <>
    <Named publishable={publishable} /> {publishable.captcha_provider !== null && <span class="tag">{publishable.captcha_provider}</span>}
    <small>
      <SafeText text={publishable.locked_from} />
    </small>
  </>
)

const KeyStatus = ({ status }: Pick<PublishableKey, 'status'>): JSX.Element => (
  <span class="status">
    <Mark name={status === 'active' ? 'ok' : 'canceled'} />
    {status}
  </span>
)
