/** Credit grants with a remaining balance, in the order in which they are used. */
import type { JSX } from 'preact'
import { Gauge } from '../parts/controls.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { credits, dateOnly } from '../parts/time.ts'
import type { CreditGrant } from '../wire/api.d.ts'
import { texts } from '../billing/billing-texts.ts'

export function CreditGrants({ grants }: { readonly grants: readonly CreditGrant[] }): JSX.Element {
  const w = texts()
  return (
    <section aria-labelledby="credit-grants">
      <div class="head">
        <h2 id="credit-grants">{w.grants}</h2>
      </div>
      {grants.length === 0 ? (
        <p class="no-rows soft">{w.noGrants}</p>
      ) : (
        <>
          <ol class="grants" aria-label={w.grants}>
            {grants.map((grant) => (
              <li key={grant.id}>
                <div>
                  <b>{w.kinds[grant.kind]}</b> <span class="faint">{w.grantedAt({ date: dateOnly(grant.granted_at) })}</span>
                  {grant.note !== '' && (
                    <p class="soft">
                      <SafeText text={grant.note} />
                    </p>
                  )}
                </div>
                <div class="grant-left">
                  <span>
                    <b>{credits(grant.remaining)}</b> <span class="faint">{w.ofAmount({ amount: credits(grant.amount) })}</span>
                  </span>
                  <Gauge used={Number(grant.remaining)} limit={Number(grant.amount)} isProgress />
                </div>
                <span class="soft">{grant.expires_at === null ? w.neverExpires : w.expiresOn({ date: dateOnly(grant.expires_at) })}</span>
              </li>
            ))}
          </ol>
          <p class="no-rows faint">{w.order}</p>
        </>
      )}
    </section>
  )
}
