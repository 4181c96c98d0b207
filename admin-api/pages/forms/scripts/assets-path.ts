/** Path of the stylesheets and scripts of forms. */
export const formAssetsPath = '/f/assets'
