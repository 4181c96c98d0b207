/** Screen for the settings of this browser: theme, language and shortcuts. */
import type { JSX } from 'preact'
import { TopBar } from '../parts/top-bar.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { OwnKeys } from './own-keys.tsx'
import { Preferences } from './preferences.tsx'
import { texts } from './profile-texts.ts'

export default function PreferencesScreen(): JSX.Element {
  const w = texts()
  return (
    <>
      <TopBar title={allTexts().sections.preferences} />
      <div class="sheet">
        <div class="say">
          <h2>{w.browser}</h2>
          <p>{w.browserText}</p>
        </div>
        <div class="profile-part">
          <Preferences />
          <OwnKeys />
        </div>
      </div>
    </>
  )
}
