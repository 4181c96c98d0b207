/** Websites by credit use, highest first. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { bytes, credits, percent } from '../parts/time.ts'
import { perDayOf, type SiteUsages } from '../websites/site-usages.ts'
import type { Site } from '../wire/api.d.ts'
import { texts } from '../billing/billing-texts.ts'

/** The list of websites shows the remaining ones. */
const mostRows = 10

interface SitesProps {
  readonly sites: readonly Site[]
  readonly usages: SiteUsages
}

export function CreditSites({ sites, usages }: SitesProps): JSX.Element {
  const w = texts()
  const all = perDayOf(sites, usages) ?? 0
  const rows = sites
    .flatMap((site) => {
      const usage = usages.get(site.id)
      return usage ? [{ site, usage, perDay: Number(usage.credits_per_day) }] : []
    })
    .toSorted((a, b) => b.perDay - a.perDay)
  return (
    <section aria-labelledby="credit-sites">
      <div class="head">
        <h2 id="credit-sites">{w.whatUses}</h2>
      </div>
      <div class="scrolls" tabIndex={0} role="group" aria-label={w.whatUses}>
        <table class="table still-table" aria-label={w.whatUses}>
          <thead>
            <tr>
              <th>{w.website}</th>
              <th class="num">{w.stored}</th>
              <th class="num">{w.traffic}</th>
              <th class="num">{w.perDay}</th>
              <th class="num">{w.share}</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, mostRows).map(({ site, usage, perDay }) => (
              <tr class="still" key={site.id}>
                <td class="strong">
                  <a href={link(`/websites/${site.id}`)}>{site.slug}</a>
                </td>
                <td class="num">{bytes(usage.stored_bytes)}</td>
                <td class="num">{bytes(usage.traffic_bytes)}</td>
                <td class="num">{credits(usage.credits_per_day)}</td>
                <td class="num">{all === 0 ? '–' : percent(perDay / all, 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
