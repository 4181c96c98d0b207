/** Screen for routing: rules, policy for unrouted mail, a test of the rules, and failover. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { go, linkHere, projectId, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { Newest } from '../selection/newest.tsx'
import { Tabs } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { Failover } from './failover.tsx'
import { AgentApproval } from './agent-approval.tsx'
import { NoRoute } from './no-route.tsx'
import { Rules } from './rules.tsx'
import { texts } from './routing-texts.ts'
import { Tester } from './tester.tsx'
import { WhatIf } from '../what-if/what-if.tsx'

const views = ['rules', 'failover', 'what-if'] as const

export default function Routing(): JSX.Element {
  const w = texts()
  const view = views.find((one) => one === query.value.get('view')) ?? 'rules'
  const isFailover = view === 'failover'
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const destinations = useAll('/v1/destinations', { query: project })
  const known = destinations.read.data ?? []
  return (
    <>
      <TopBar title={allTexts().routing}>
        {mayChange.value && view !== 'what-if' && (
          <a class="button primary" href={linkHere({ new: '1', edit: '' })}>
            <Icon name="plus" />
            <span class="shell-label">{isFailover ? w.newFailover : w.newRule}</span>
          </a>
        )}
      </TopBar>
      <div class="sheet">
        <Newest of={destinations} />
        <Tabs
          label={allTexts().routing}
          tabs={[
            { id: 'rules', label: w.rules },
            { id: 'failover', label: w.failover },
            { id: 'what-if', label: w.whatIf },
          ]}
          value={view}
          onChoose={(id) => go(linkHere({ view: id === 'rules' ? '' : id, new: '', edit: '' }))}
        />
        <div role="tabpanel" aria-label={{ rules: w.rules, failover: w.failover, 'what-if': w.whatIf }[view]}>
          {isFailover && <Failover destinations={known} />}
          {view === 'what-if' && <WhatIf destinations={known} />}
          {view === 'rules' && (
            <div class="columns">
              <section aria-label={w.rules}>
                <Rules destinations={known} />
              </section>
              <aside aria-label={w.whichRule}>
                <Tester />
                <NoRoute />
                <AgentApproval />
              </aside>
            </div>
          )}
        </div>
      </div>
    </>
  )
}
