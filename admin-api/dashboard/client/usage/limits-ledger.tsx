/** Current use of each limit, and the messages of the month. */
import type { JSX } from 'preact'
import { Gauge } from '../parts/controls.tsx'
import { number } from '../parts/time.ts'
import type { Usage } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { named } from './named.ts'

export const LimitsLedger = ({ usage: { sends, limits } }: { readonly usage: Usage }): JSX.Element => (
  <dl class="ledger">
    <div>
      <dt>{named('sends')}</dt>
      <dd>
        <b>{number(sends)}</b>
      </dd>
    </div>
    {limits.map(({ name, used, limit }) => (
      <div key={name}>
        <dt>{named(name)}</dt>
        <dd>
          <b>{number(used)}</b> <span>{limit === null ? allTexts().withoutLimit : allTexts().of({ limit: number(limit) })}</span>
          {limit !== null && <Gauge used={used} limit={limit} />}
        </dd>
      </div>
    ))}
  </dl>
)
