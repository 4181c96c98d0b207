/** Requirements of large mailbox providers, and whether the message meets them. */
import type { JSX } from 'preact'
import { CheckName } from '../check-texts/check-said.tsx'
import { Mark } from '../parts/mark.tsx'
import type { InspectTest } from '../wire/api.d.ts'
import { texts } from './inspect-texts.ts'

type Requirement = InspectTest['requirements'][number]

const marks = { met: 'ok', missed: 'failed', unknown: 'pending', not_applicable: 'none' } as const

const receiverNames = { gmail: 'Gmail', yahoo: 'Yahoo', outlook: 'Outlook.com', icloud: 'iCloud' } as const

export const Requirements = ({ requirements }: { readonly requirements: readonly Requirement[] }): JSX.Element => (
  <>
    <div class="head">
      <h2>{texts().requirements}</h2>
    </div>
    <ul class="required">
      {requirements.map(({ id, rule, senders, providers }) => (
        <li key={id}>
          <p>
            <CheckName of="ruleNames" code={id} english={rule} />{' '}
            <span class="faint">({senders === 'bulk' ? texts().bulkSenders : texts().allSenders})</span>
          </p>
          <p class="faint">
            {providers.map(({ provider, status, refusal }) => (
              <span key={provider} class="status" title={refusal ?? undefined}>
                <Mark name={marks[status]} />
                {receiverNames[provider]}: {texts().outcomes[status]}
              </span>
            ))}
          </p>
        </li>
      ))}
    </ul>
  </>
)
