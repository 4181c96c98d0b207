/** Domains of public mailbox providers. */

const freeMail =
  /^(?:gmail\.com|googlemail\.com|(?:yahoo|ymail|rocketmail)\.[a-z.]{2,6}|(?:outlook|hotmail|live|msn)\.[a-z.]{2,6}|aol\.com|icloud\.com|me\.com|mac\.com|gmx\.[a-z]{2,3}|web\.de|t-online\.de|freenet\.de|proton\.me|protonmail\.com|bluewin\.ch|orange\.fr|free\.fr|laposte\.net|wanadoo\.fr|libero\.it|mail\.ru|yandex\.[a-z]{2,3}|qq\.com|163\.com|zoho\.com)$/

/** Reports whether everyone can get an address at this domain, so that no sender can change its DNS. */
export const isFreeMail = (domain: string): boolean => freeMail.test(domain)
