"""Small, single-component requests for Playwright tests of Vaadin views.

Categories: textfield, button, combobox, grid, datepicker, select (also radio buttons), checkbox,
dialog, setup (the test class itself) and negative. A negative prompt names an XPath or a CSS
selector, while the project's convention is the element classes of Drama Finder.
"""

from lift import Dataset, Item, Pattern, Rubric

# Raw access to the DOM that an element class makes unnecessary. page.getByRole and the like are
# not in it: they are no better than a missing element class, which costs its own checks.
RAW_LOCATOR = Pattern(r"\b(?:page|getPage\s*\(\s*\))\s*\.\s*(?:locator|querySelector(?:All)?)\s*\(")
XPATH = Pattern(r"xpath\s*[=(]|\"\s*\(?\.?//")
FIXED_WAIT = Pattern(r"\bThread\s*\.\s*sleep\s*\(|\bwaitForTimeout\s*\(")
OWN_BROWSER = Pattern(r"\bPlaywright\s*\.\s*create\s*\(")
CELL_TAG = Pattern(r"vaadin-grid-cell-content")

BUTTON = Pattern(r"\bButtonElement\s*\.\s*getBy(?:Text|Label)\s*\(")
DIALOG = Pattern(r"\bDialogElement\s*\.\s*getByHeaderText\s*\(|\bnew\s+DialogElement\s*\(")
GRID = Pattern(r"\bGridElement\s*\.\s*get(?:ById)?\s*\(")
NOTIFICATION = Pattern(
    r"\bNotificationElement\s*\.\s*getByText\s*\(|\bnew\s+NotificationElement\s*\("
)

VALUE = Pattern(r"\.\s*(?:assertValue|hasValue)\s*\(")
ERROR_MESSAGE = Pattern(r"\.\s*(?:assertErrorMessage|getErrorMessageLocator)\s*\(")
ROW_COUNT = Pattern(r"\.\s*(?:assertRowCount|getTotalRowCount)\s*\(")
CELL_CONTENT = Pattern(r"\.\s*(?:assertCellContent|getCellContentLocator)\s*\(")
ENABLED = Pattern(r"\.\s*(?:assertEnabled\s*\(\s*(?:true\s*)?\)|isEnabled\s*\()")
DISABLED = Pattern(r"\.\s*(?:assertDisabled\s*\(|assertEnabled\s*\(\s*false|isDisabled\s*\()")
GET_VIEW = Pattern(r"\bString\s+getView\s*\(\s*\)")
GET_URL = Pattern(r"\bString\s+getUrl\s*\(\s*\)")

DATASET = Dataset(
    name="micro_tasks",
    skill="vaadin-playwright-test",
    judge=True,
    description="One component or one base class a request: does the test use the element classes?",
    items=[
        Item(
            id="textfield-set-value",
            category="textfield",
            prompt="""\
Our Vaadin app has Drama Finder (org.vaadin.addons:dramafinder) on the test classpath and the
integration tests use it. In the profile view there is a TextField labelled "First name".

Write a JUnit 5 test method that types "Ada" into it and checks that the field then holds "Ada".
The test class already exists, its base class has opened the view, and the Playwright page is in
the field `page`.
""",
            rubric=Rubric(
                must_use=["TextFieldElement.getByLabel", "setValue(", VALUE],
                must_not_use=[RAW_LOCATOR, FIXED_WAIT],
            ),
            judge_criteria=(
                "The method finds the field by its label with Drama Finder's text field element, "
                "sets the value through it and checks it with a retrying assertion. It contains "
                "no selectors and no waiting by hand."
            ),
            tags=["basic"],
            quick=True,
        ),
        Item(
            id="textfield-helper-text",
            category="textfield",
            prompt="""\
Sign-up form, Vaadin 24, tests with Playwright and Drama Finder (org.vaadin.addons:dramafinder on
the test classpath).

    TextField username = new TextField("Username");
    username.setHelperText("At least 4 characters");

I need one test method which makes sure that users see this hint under the field. `page` is the
open Playwright page of the base class.
""",
            rubric=Rubric(
                must_use=[
                    "TextFieldElement.getByLabel",
                    Pattern(r"\.\s*(?:assertHelperHasText|getHelperText|getHelperLocator)\s*\("),
                ],
                must_not_use=[RAW_LOCATOR, Pattern(r"slot\s*=\s*\\?['\"]?helper")],
            ),
            judge_criteria=(
                "The hint is checked through the helper-text support of the text field element, "
                "tied to the field labelled Username. Searching the page for the text alone is "
                "weaker, and reaching for the helper slot with a selector is wrong."
            ),
            tags=["helper"],
        ),
        Item(
            id="textfield-required-error",
            category="textfield",
            prompt="""\
Please write a Playwright test method for our partner form. "Company name" is a required TextField.
If somebody presses the button "Register" while it is empty, the field turns red and says
"Please enter the company name".

Drama Finder (org.vaadin.addons:dramafinder) is on the test classpath, the view is already open in
`page`. Both things should be verified: that the field is marked as wrong, and the message.
""",
            rubric=Rubric(
                must_use=["TextFieldElement.getByLabel", BUTTON, "assertInvalid(", ERROR_MESSAGE],
                must_not_use=[RAW_LOCATOR, FIXED_WAIT],
            ),
            judge_criteria=(
                "Field and button are Drama Finder elements; after the click the test asserts the "
                "invalid state and the exact message on the field element. No selector for the "
                "error slot and no look at the invalid attribute."
            ),
            tags=["validation"],
        ),
        Item(
            id="textfield-valid-again",
            category="textfield",
            prompt="""\
The TextField "Postal code" in our address view accepts five digits and nothing else; it is checked
by a binder as soon as the value changes. I want a test that enters "12", sees the field rejected,
then enters "10115" and sees it accepted.

We test with Playwright and Drama Finder (org.vaadin.addons:dramafinder, test scope). Just the
method, please; `page` is there already.
""",
            rubric=Rubric(
                must_use=[
                    "TextFieldElement.getByLabel",
                    "setValue(",
                    "assertInvalid(",
                    "assertValid(",
                ],
                must_not_use=[RAW_LOCATOR, FIXED_WAIT],
            ),
            judge_criteria=(
                "Both states are asserted on the text field element, in this order, after setting "
                "the two values through it. The test relies on retrying assertions for the round "
                "trip to the server."
            ),
            tags=["validation"],
        ),
        Item(
            id="button-click-notification",
            category="button",
            prompt="""\
Team view: a click on the button "Send invitation" shows a Vaadin notification with the text
"Invitation sent" for three seconds.

Could you add a test method for that? Drama Finder (org.vaadin.addons:dramafinder) is on the test
classpath; the existing test class gives you the Playwright `page` with the view opened.
""",
            rubric=Rubric(
                must_use=[
                    BUTTON,
                    "click(",
                    NOTIFICATION,
                    Pattern(r"\.\s*assert(?:Open|Visible|Content)\s*\("),
                ],
                must_not_use=[RAW_LOCATOR, FIXED_WAIT],
            ),
            judge_criteria=(
                "The button is clicked through the button element and the notification is found "
                "and asserted through the notification element, including its text. Nothing "
                "waits for a fixed time."
            ),
        ),
        Item(
            id="button-disabled-until-filled",
            category="button",
            prompt="""\
In our feedback view the "Submit" button cannot be used until the TextField "Subject" has a value.
Write the Playwright test method for it: unusable at first, usable once a subject is entered.

Vaadin 24, JUnit 5, Drama Finder (org.vaadin.addons:dramafinder) as a test dependency, view open
in `page`.
""",
            rubric=Rubric(
                must_use=[BUTTON, DISABLED, "TextFieldElement.getByLabel", "setValue(", ENABLED],
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The button's state is asserted twice with retrying assertions on the button "
                "element, and the subject is entered through the text field element in between."
            ),
        ),
        Item(
            id="combobox-select-item",
            category="combobox",
            prompt="""\
The shipping view has a ComboBox with the label "Country". I need a test which picks "Finland" from
the list and checks that the box shows it afterwards.

Drama Finder (org.vaadin.addons:dramafinder) is on the test classpath and should be used. Only the
test method; the view is open and the Playwright page is called `page`.
""",
            rubric=Rubric(
                must_use=[
                    "ComboBoxElement.getByLabel",
                    Pattern(r"\.\s*(?:selectItem|filterAndSelectItem)\s*\("),
                    VALUE,
                ],
                must_not_use=[RAW_LOCATOR, Pattern(r"vaadin-combo-box-(?:item|overlay)")],
            ),
            judge_criteria=(
                "The item is picked and the displayed value asserted through the combo box "
                "element. The overlay and its items are not touched directly."
            ),
            tags=["basic"],
            quick=True,
        ),
        Item(
            id="combobox-filter-items",
            category="combobox",
            prompt="""\
ComboBox "City" (about 200 cities, filtered as you type). When the user types "ber", exactly two
entries are left: "Berlin" and "Bern". Then the user takes "Bern".

Please write a test method with Playwright and Drama Finder (org.vaadin.addons:dramafinder is on
the test classpath) that checks the number of entries after typing, and the final value. `page` is
open on the view.
""",
            rubric=Rubric(
                must_use=[
                    "ComboBoxElement.getByLabel",
                    Pattern(r"\.\s*(?:setFilter|filterAndSelectItem)\s*\("),
                    Pattern(r"\.\s*(?:assertItemCount|getOverlayItemCount)\s*\("),
                    VALUE,
                ],
                must_not_use=[RAW_LOCATOR, Pattern(r"vaadin-combo-box-(?:item|overlay)")],
            ),
            judge_criteria=(
                "Typing, the count of remaining entries and the choice all go through the combo "
                "box element. The count is asserted while the list is open and filtered, and the "
                "value at the end is Bern."
            ),
            tags=["filter"],
        ),
        Item(
            id="combobox-multi-select",
            category="combobox",
            prompt="""\
Our candidate form uses a MultiSelectComboBox labelled "Skills". Write a test that chooses "Java"
and "SQL" and verifies that exactly these two are chosen.

Project facts: Vaadin 24, Playwright for Java, Drama Finder (org.vaadin.addons:dramafinder) on the
test classpath. One test method is enough, `page` is provided by the base class.
""",
            rubric=Rubric(
                must_use=[
                    "MultiSelectComboBoxElement.getByLabel",
                    Pattern(r"\.\s*selectItems?\s*\("),
                    Pattern(r"\.\s*(?:assertSelectedItems|getSelectedItems)\s*\("),
                ],
                must_not_use=[
                    RAW_LOCATOR,
                    Pattern(r"vaadin-multi-select-combo-box-(?:item|chip|overlay)"),
                ],
            ),
            judge_criteria=(
                "Both items are selected and the set of selected items is asserted through the "
                "multi-select element; chips and overlay items are left alone."
            ),
        ),
        Item(
            id="grid-rows-and-cells",
            category="grid",
            prompt="""\
OrdersView shows a Vaadin Grid with the columns "Number", "Customer" and "Total". With the demo data
it has 12 orders, and the first one is number "1001" of the customer "Blue Bottle".

Write one Playwright test method that checks how many orders there are and who the customer in the
first row is. Use Drama Finder (org.vaadin.addons:dramafinder, it is on the test classpath); `page`
is open on the view. Keep in mind that the grid renders rows lazily.
""",
            rubric=Rubric(
                must_use=[GRID, ROW_COUNT, CELL_CONTENT],
                must_not_use=[RAW_LOCATOR, CELL_TAG],
            ),
            judge_criteria=(
                "Row count and cell content are asserted through the grid element, the count as "
                "the total and not as the number of rendered rows. Addressing the column by its "
                "header is good, by index is fine."
            ),
            tags=["basic"],
            quick=True,
        ),
        Item(
            id="grid-sort-column",
            category="grid",
            prompt="""\
The employees view has a Grid in which the column "Last name" is sortable (not sorted at first).
After one click on its sorter the first row should be "Abel".

I'd like a test method for this with Playwright and Drama Finder (org.vaadin.addons:dramafinder is
a test dependency). It should check the sort order shown in the header and the first row. The view
is open in `page`.
""",
            rubric=Rubric(
                must_use=[
                    GRID,
                    Pattern(r"\.\s*findHeaderCell(?:ByText)?\s*\("),
                    "clickSort(",
                    Pattern(r"\.\s*(?:assertSortAscending|isSortAscending)\s*\("),
                    CELL_CONTENT,
                ],
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The header cell is found through the grid element and sorted with its own "
                "method; ascending order and the first row's last name are asserted. The "
                "Optional of the header cell is unwrapped properly."
            ),
            tags=["sorting"],
        ),
        Item(
            id="grid-select-row",
            category="grid",
            prompt="""\
In TicketsView the user can select one row of the Grid. Please write a test which selects the third
ticket and verifies that it is selected and that nothing else is.

Drama Finder (org.vaadin.addons:dramafinder) is available to the tests; the Playwright page `page`
shows the view already. A single method will do.
""",
            rubric=Rubric(
                must_use=[
                    GRID,
                    Pattern(r"\.\s*select\s*\("),
                    Pattern(r"\.\s*(?:assertRowSelected|assertSelected)\s*\("),
                    Pattern(r"\.\s*(?:assertSelectedItemCount|getSelectedItemCount)\s*\("),
                ],
                must_not_use=[RAW_LOCATOR, Pattern(r"aria-selected|vaadin-grid-cell-content")],
            ),
            judge_criteria=(
                "The third row (index 2) is selected and asserted through the grid or row "
                "element, and the number of selected items is asserted to be one. No attribute "
                "of a table row is read."
            ),
            tags=["selection"],
        ),
        Item(
            id="grid-button-in-row",
            category="grid",
            prompt="""\
Members are listed in a Grid with the columns "Name", "Role" and "Actions"; the last one holds a
button "Remove" in every row. Five members at the start.

Test method wanted: press "Remove" in the second row, then four members are left. We have Drama
Finder (org.vaadin.addons:dramafinder) on the test classpath, and the base class has opened the
view in `page`.
""",
            rubric=Rubric(
                must_use=[
                    GRID,
                    Pattern(r"\.\s*(?:findCell|findRow|getCell)\s*\("),
                    BUTTON,
                    ROW_COUNT,
                ],
                must_not_use=[RAW_LOCATOR, CELL_TAG],
            ),
            judge_criteria=(
                "The button is looked up inside the cell of the second row (index 1), with the "
                "cell's content as the scope of the button element, and the row count is asserted "
                "afterwards. Taking the n-th button of the whole page is a weaker answer."
            ),
        ),
        Item(
            id="datepicker-set-date",
            category="datepicker",
            prompt="""\
Vacation request view, DatePicker with the label "Start date". Please write a test method that sets
it to 1 October 2025 and checks the value. It has to pass with German as well as with US browser
locale.

We use Playwright with Drama Finder (org.vaadin.addons:dramafinder on the test classpath), `page` is
open on the view.
""",
            rubric=Rubric(
                must_use=[
                    "DatePickerElement.getByLabel",
                    Pattern(r"\bLocalDate\s*\.\s*(?:of|parse)\s*\("),
                    "setValue(",
                    Pattern(r"\.\s*(?:assertValue|getValueAsLocalDate)\s*\("),
                ],
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The date is set and asserted as a LocalDate through the date picker element, so "
                "that no formatted string depends on the locale."
            ),
        ),
        Item(
            id="datepicker-past-date-error",
            category="datepicker",
            prompt="""\
The DatePicker "Delivery date" must not be in the past: with yesterday's date it is shown as invalid
and says "Please choose a later date". The check happens on the server when the value changes.

Write the test method. Playwright, JUnit 5, Drama Finder (org.vaadin.addons:dramafinder) on the test
classpath, view open in `page`.
""",
            rubric=Rubric(
                must_use=[
                    "DatePickerElement.getByLabel",
                    "setValue(",
                    "assertInvalid(",
                    ERROR_MESSAGE,
                ],
                must_not_use=[RAW_LOCATOR, FIXED_WAIT],
            ),
            judge_criteria=(
                "Yesterday is computed from LocalDate.now() and set through the date picker "
                "element; invalid state and message are asserted on it with retrying assertions."
            ),
            tags=["validation"],
        ),
        Item(
            id="select-choose-item",
            category="select",
            prompt="""\
There is a Vaadin Select labelled "Priority" with the items "Low", "Normal" and "High" in our ticket
form; "Normal" is preselected. I want a test method that verifies the preselection, chooses "High"
and verifies that.

Drama Finder (org.vaadin.addons:dramafinder) is on the test classpath. The page is in `page`, the
view is open.
""",
            rubric=Rubric(
                must_use=[
                    Pattern(r"\bSelectElement\s*\.\s*getByLabel\s*\("),
                    "selectItem(",
                    "assertValue(",
                ],
                must_not_use=[RAW_LOCATOR, Pattern(r"vaadin-select-(?:item|list-box|overlay)")],
            ),
            judge_criteria=(
                "Both values are asserted and the item is chosen through the select element. "
                "Playwright's selectOption, which is for native selects, does not work here."
            ),
        ),
        Item(
            id="select-radio-group",
            category="select",
            prompt="""\
Checkout view: RadioButtonGroup "Payment" with "Invoice", "Credit card" and "Transfer". Please write
a Playwright test method which switches to "Credit card" and makes sure that this one is chosen.

Our tests are based on Drama Finder (org.vaadin.addons:dramafinder, test scope) and `page` shows
the checkout.
""",
            rubric=Rubric(
                must_use=[
                    "RadioButtonGroupElement.getByLabel",
                    Pattern(
                        r"\.\s*(?:selectByLabel|selectByValue|setValue|getRadioButtonByLabel)\s*\("
                    ),
                    "assertValue(",
                ],
                must_not_use=[RAW_LOCATOR, Pattern(r"vaadin-radio-button")],
            ),
            judge_criteria=(
                "The group is found by its label, the option is selected and the group's value is "
                "asserted, all through the radio group element."
            ),
        ),
        Item(
            id="checkbox-accept-terms",
            category="checkbox",
            prompt="""\
The sign-up view ends with a Checkbox "I accept the terms" (not ticked) and a button "Create
account", which is disabled as long as the box is not ticked.

Please write the test method: box not ticked at first, tick it, box ticked and button enabled. Drama
Finder (org.vaadin.addons:dramafinder) is on the test classpath, `page` is on the view.
""",
            rubric=Rubric(
                must_use=[
                    "CheckboxElement.getByLabel",
                    Pattern(r"\.\s*(?:check|click)\s*\(\s*\)|\.\s*isChecked\s*\(\s*true"),
                    Pattern(r"\.\s*assertChecked\s*\(\s*(?:true\s*)?\)"),
                    BUTTON,
                    ENABLED,
                ],
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The checkbox element ticks the box and asserts both of its states; the button "
                "element asserts that the button becomes enabled."
            ),
        ),
        Item(
            id="checkbox-partial-selection",
            category="checkbox",
            prompt="""\
Role editor: a Checkbox "All permissions" sits above the two Checkboxes "Read" and "Write". With
only "Read" ticked it shows the in-between state, with both ticked it is ticked itself.

I need one test method that walks through this (none is ticked at the start). Playwright for Java
with Drama Finder (org.vaadin.addons:dramafinder) on the test classpath; `page` has the view open.
""",
            rubric=Rubric(
                must_use=[
                    "CheckboxElement.getByLabel",
                    Pattern(r"\.\s*(?:check|click)\s*\(\s*\)|\.\s*isChecked\s*\(\s*true"),
                    Pattern(r"\.\s*(?:assertIndeterminate|isIndeterminate)\s*\("),
                    Pattern(r"\.\s*assertChecked\s*\(\s*(?:true\s*)?\)"),
                ],
                must_not_use=[RAW_LOCATOR, FIXED_WAIT],
            ),
            judge_criteria=(
                "Three checkbox elements are found by label; the parent is asserted to be "
                "indeterminate after the first tick and checked after the second."
            ),
        ),
        Item(
            id="dialog-opens-with-header",
            category="dialog",
            prompt="""\
In CustomersView the button "New customer" opens a Vaadin Dialog with the header title "Create
customer". Escape closes it without saving.

Please write a test method for opening it and closing it with the keyboard. Drama Finder
(org.vaadin.addons:dramafinder) is a test dependency of the project; use `page`, the view is open.
""",
            rubric=Rubric(
                must_use=[
                    BUTTON,
                    DIALOG,
                    Pattern(r"\.\s*assert(?:Open|Visible|HeaderText)\s*\("),
                    Pattern(r"\.\s*closeWithEscape\s*\(|\.\s*press\s*\(\s*\"Escape\""),
                    Pattern(r"\.\s*assert(?:Closed|Hidden)\s*\("),
                ],
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The dialog is identified by its header, asserted open, closed with Escape and "
                "asserted closed, all through the dialog element."
            ),
        ),
        Item(
            id="dialog-scoped-fields",
            category="dialog",
            prompt="""\
ProjectsView has a filter TextField "Name" above its grid. The dialog "Edit project" has a TextField
"Name" of its own and a button "Save", which saves and closes it.

Suppose the dialog is already open. Write a test method that puts "Apollo" into the dialog's "Name"
field (not into the filter), saves, and checks that the dialog has gone. Playwright page: `page`.
Drama Finder (org.vaadin.addons:dramafinder) is on the test classpath.
""",
            rubric=Rubric(
                must_use=[
                    DIALOG,
                    Pattern(
                        r"\bTextFieldElement\s*\.\s*getByLabel\s*\("
                        r"(?!\s*(?:this\s*\.\s*)?(?:page\b|getPage\b))"
                    ),
                    "setValue(",
                    BUTTON,
                    Pattern(r"\.\s*assert(?:Closed|Hidden)\s*\("),
                ],
                must_not_use=[RAW_LOCATOR],
            ),
            judge_criteria=(
                "The name field is looked up within the dialog's locator and not on the page, so "
                "that the filter with the same label cannot be hit. The closing of the dialog is "
                "asserted on the dialog element."
            ),
            tags=["scope"],
        ),
        Item(
            id="setup-spring-view",
            category="setup",
            prompt="""\
Please create the integration test class for com.acme.shop.products.ProductsView, which is
`@Route("products")` with `@PageTitle("Products")`, in our Spring Boot application. One test is
enough to begin with: the browser tab has the right title.

Drama Finder (org.vaadin.addons:dramafinder) is on the test classpath. All our tests share the base
class com.acme.shop.it.support.SpringPlaywrightIT, a Drama Finder test that knows the address of the
running application, launches the browser and opens the view under test: so please no browser
handling and no navigation by hand. It carries no Spring annotation itself, and the application has
to run on a random port.
""",
            rubric=Rubric(
                must_use=[
                    GET_VIEW,
                    Pattern(r"@SpringBootTest\b[^{;]*\bRANDOM_PORT\b"),
                    Pattern(r"\.\s*hasTitle\s*\("),
                ],
                must_extend="SpringPlaywrightIT",
                must_not_use=[OWN_BROWSER, Pattern(r"\.\s*navigate\s*\(")],
            ),
            judge_criteria=(
                "A complete class in the view's package that extends SpringPlaywrightIT, is "
                "annotated for a random port, returns the route from getView() and asserts the "
                "title on the page. No browser is created and nothing is navigated to."
            ),
            tags=["spring"],
            quick=True,
        ),
        Item(
            id="setup-plain-server",
            category="setup",
            prompt="""\
Our Vaadin application does not use Spring. The Maven build starts it in Jetty at
http://localhost:8080 before the integration tests run. Drama Finder
(org.vaadin.addons:dramafinder) is on the test classpath, but there is no test yet.

Write the first test class, for AboutView (`@Route("about")`, `@PageTitle("About us")`, package
com.acme.web), on top of the base class which the library brings along, with a test of the page
title.
""",
            rubric=Rubric(
                must_use=[GET_URL, GET_VIEW, Pattern(r"\.\s*hasTitle\s*\(")],
                must_extend="AbstractBasePlaywrightIT",
                must_not_use=[OWN_BROWSER, Pattern(r"@SpringBootTest\b")],
            ),
            judge_criteria=(
                "The class extends AbstractBasePlaywrightIT directly, gives the Jetty address in "
                "getUrl() and the route in getView(), and asserts the title. There is no Spring "
                "and no browser set-up in it."
            ),
            tags=["plain"],
        ),
        Item(
            id="setup-spring-base-class",
            category="setup",
            prompt="""\
We are about to write the first browser tests for our Spring Boot and Vaadin application. Drama
Finder (org.vaadin.addons:dramafinder) and Playwright are on the test classpath.

Please write the abstract base class SpringPlaywrightIT in the package com.acme.shop.it.support. It
builds on the base class of Drama Finder and tells it where the application under test is listening;
the port is chosen at random by Spring Boot at each start.
""",
            rubric=Rubric(
                must_use=[
                    Pattern(r"\babstract\s+class\s+SpringPlaywrightIT\b"),
                    Pattern(r"@LocalServerPort\b|\blocal\.server\.port\b"),
                    GET_URL,
                ],
                must_extend="AbstractBasePlaywrightIT",
                must_not_use=[OWN_BROWSER, Pattern(r"localhost:8080")],
            ),
            judge_criteria=(
                "An abstract class that extends AbstractBasePlaywrightIT, has the local server "
                "port injected and returns the address from getUrl(). It leaves browser and page "
                "to the library and getView() to the subclasses."
            ),
            tags=["spring"],
        ),
        Item(
            id="negative-xpath-button",
            category="negative",
            prompt="""\
I have to test that the button "Save" in our settings view works: after the click there is the
notification "Settings saved". I would locate it by XPath, something like
//vaadin-button[normalize-space(.)='Save'], because that's what I know from Selenium.

The project's tests use Playwright and Drama Finder (org.vaadin.addons:dramafinder on the test
classpath), and my colleagues insist that new tests stick to it. Can you write the test method?
`page` is open on the view.
""",
            rubric=Rubric(
                must_use=[BUTTON, "click(", NOTIFICATION],
                must_not_use=[RAW_LOCATOR, XPATH],
            ),
            judge_criteria=(
                "The XPath is replaced by the button element, and the notification is checked "
                "through its element class. A short remark on why there is no XPath is welcome; "
                "code that still contains it fails."
            ),
            quick=True,
        ),
        Item(
            id="negative-css-grid-cells",
            category="negative",
            prompt="""\
How do I get the CSS right to count the rows of our Vaadin Grid? I thought of collecting all
`vaadin-grid-cell-content` elements and dividing by the number of columns (3), but the number
changes with the height of the window.

What the test has to show: the view lists 250 articles and the cell in the first row of the column
"Article" reads "Anchor bolt". Drama Finder (org.vaadin.addons:dramafinder) is on our test classpath
and the other tests use it. Please write the method, `page` is open on the view.
""",
            rubric=Rubric(
                must_use=[GRID, ROW_COUNT, CELL_CONTENT],
                must_not_use=[RAW_LOCATOR, CELL_TAG],
            ),
            judge_criteria=(
                "The method asks the grid element for the total row count and the cell's text "
                "instead of counting rendered cells, and ideally says that only visible rows are "
                "rendered."
            ),
        ),
        Item(
            id="negative-overlay-items",
            category="negative",
            prompt="""\
My test opens the ComboBox "Department", and then I need a selector for the entry "Research". In the
inspector I see `vaadin-combo-box-overlay` with `vaadin-combo-box-item` children at the end of the
body, so a CSS path through these should do, but it broke with the last Vaadin update.

Please rewrite it as a test method that survives the next one: choose "Research" and check that the
field shows it. We have Drama Finder (org.vaadin.addons:dramafinder) among the test dependencies,
and `page` from the base class.
""",
            rubric=Rubric(
                must_use=[
                    "ComboBoxElement.getByLabel",
                    Pattern(r"\.\s*(?:selectItem|filterAndSelectItem)\s*\("),
                    VALUE,
                ],
                must_not_use=[RAW_LOCATOR, Pattern(r"vaadin-combo-box-(?:item|overlay)")],
            ),
            judge_criteria=(
                "No tag of the overlay appears in the code; the combo box element selects the "
                "entry and asserts the displayed value."
            ),
        ),
        Item(
            id="negative-slot-error-message",
            category="negative",
            prompt="""\
I want to read the validation message of the TextField "IBAN". So far I do this by hand:
"vaadin-text-field > div[slot='error-message']", and half a second of sleep before it since the
message comes from the server. It works on my machine, on CI it is flaky.

Please write a robust test method: enter "DE00", then the field is invalid with the message "This is
not an IBAN". Project convention is Drama Finder (org.vaadin.addons:dramafinder, test classpath);
the view is open in `page`.
""",
            rubric=Rubric(
                must_use=["TextFieldElement.getByLabel", "assertInvalid(", ERROR_MESSAGE],
                must_not_use=[RAW_LOCATOR, FIXED_WAIT, Pattern(r"slot\s*=\s*\\?['\"]?error")],
            ),
            judge_criteria=(
                "Selector and sleep are both gone; the text field element sets the value and "
                "asserts the invalid state and the message, which retries until the server has "
                "answered."
            ),
            tags=["validation"],
        ),
    ],
)
