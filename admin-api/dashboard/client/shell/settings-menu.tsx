/** The own account: theme, language, single keys, and the way out. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Segments } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { useOutside } from '../parts/outside.ts'
import { language, languages, speak, words, type Language } from '../words/words.ts'
import { boot } from '../app/boot.ts'
import { keepLanguage, setShortcuts, setTheme, shortcuts, theme } from '../app/settings.ts'

const names: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', fr: 'Français', it: 'Italiano' }

const choose = (next: Language): void => {
  keepLanguage(next)
  void speak(next)
}

export function SettingsMenu(): JSX.Element {
  const w = words()
  const [isShown, setShown] = useState(false)
  const anchor = useRef<HTMLDivElement>(null)
  useOutside(anchor, isShown, () => setShown(false))
  return (
    <div class="menu-anchor up" ref={anchor}>
      <button class="nav-account" aria-expanded={isShown} title={boot.email} onClick={() => setShown(!isShown)}>
        <Icon name="account" />
        <span class="shell-label cut">{boot.email}</span>
      </button>
      {isShown && (
        <div class="menu settings">
          <h3>{w.theme}</h3>
          <Segments
            label={w.theme}
            value={theme.value}
            onChoose={setTheme}
            choices={[
              { value: 'system', label: w.themeSystem },
              { value: 'light', label: w.themeLight },
              { value: 'dark', label: w.themeDark },
            ]}
          />
          <h3>{w.language}</h3>
          <select
            class="input"
            aria-label={w.language}
            value={language.value}
            onChange={(event) => choose(event.currentTarget.value as Language)}
          >
            {languages.map((one) => (
              <option key={one} value={one} lang={one}>
                {names[one]}
              </option>
            ))}
          </select>
          <label class="check">
            <input type="checkbox" checked={shortcuts.value} onChange={(event) => setShortcuts(event.currentTarget.checked)} />
            {w.singleKeys}
          </label>
          <a href="/account">{w.accountAndSessions}</a>
          <form method="post" action="/sign-out">
            <input type="hidden" name="csrf" value={boot.csrfToken} />
            <button>{w.signOut}</button>
          </form>
        </div>
      )}
    </div>
  )
}
