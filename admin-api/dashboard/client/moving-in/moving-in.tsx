/** Screen for imports from another mail service: address lists and templates, each after a dry run. */
import type { JSX } from 'preact'
import { go, linkHere, query } from '../app/location.ts'
import { mayAdminister, mayChange } from '../app/permissions.ts'
import { Segments } from '../parts/controls.tsx'
import { NotAllowed } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { Addresses } from './addresses.tsx'
import { texts } from './moving-texts.ts'
import { MovedTemplates } from './templates.tsx'

export default function MovingIn(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const what = query.value.get('what') === 'templates' ? 'templates' : 'addresses'
  const may = what === 'templates' ? mayChange.value : mayAdminister.value
  return (
    <>
      <TopBar title={common.movingIn} />
      <div class="sheet">
        <div class="say">
          <h2>{w.say[what]}</h2>
          <p>{w.sayText[what]}</p>
        </div>
        <div class="filters">
          <Segments
            label={w.what}
            value={what}
            onChoose={(next) => go(linkHere({ what: next === 'addresses' ? '' : next }), { replaces: true })}
            choices={[
              { value: 'addresses', label: w.whats.addresses },
              { value: 'templates', label: w.whats.templates },
            ]}
          />
        </div>
        {!may ? <NotAllowed says={w.needsRole[what]} /> : what === 'templates' ? <MovedTemplates /> : <Addresses />}
      </div>
    </>
  )
}
