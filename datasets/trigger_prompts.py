"""What people might ask beside a Vaadin project, and whether the skill should load for it.

Half of the prompts want a Playwright test of a Vaadin Flow view in Java, written, extended,
repaired or explained, in many ways of asking. The other half are near misses: they share a word or
two with the skill (Vaadin, Playwright, integration test) and need something else.
"""

from lift import TriggerPrompt, TriggerPrompts

DATASET = TriggerPrompts(
    name="trigger_prompts",
    skill="vaadin-playwright-test",
    description="Does the skill load for Playwright tests of Vaadin views, and only for them?",
    prompts=[
        # ---- It should load
        TriggerPrompt(
            id="new-view",
            prompt=(
                "Write a Playwright integration test for our OrdersView (Vaadin Flow, route "
                "`orders`). It should check that the grid lists the twelve seeded orders and that "
                "sorting by date works."
            ),
            loads=True,
            why="A new test of a Vaadin view with a grid, asked for in so many words.",
        ),
        TriggerPrompt(
            id="terse-it",
            prompt="ITs for the Vaadin login view pls",
            loads=True,
            why="Few words, but IT and Vaadin view are among them.",
        ),
        TriggerPrompt(
            id="fix-failing-it",
            prompt=(
                "CustomerFormViewIT is red since we moved to Vaadin 25, the view works fine in the "
                "browser. Fix the failing IT."
            ),
            loads=True,
            why="Repairing an existing IT class of a Vaadin view.",
        ),
        TriggerPrompt(
            id="issue-with-test",
            prompt=(
                "Please implement #85: the country combo box in AddressView has to offer only "
                "countries of the chosen continent. The acceptance criteria say that an "
                "integration test next to the other *IT classes must cover it. Vaadin 24."
            ),
            loads=True,
            why="The test is a part of the issue, although the first words ask for a feature.",
        ),
        TriggerPrompt(
            id="review-comment",
            prompt=(
                'Review comment on our PR: "SaveDialogIT still digs for vaadin-button with '
                'page.locator, please go through the element classes". Can you change that?'
            ),
            loads=True,
            why="Replacing raw locators by element classes is what the skill teaches.",
        ),
        TriggerPrompt(
            id="drama-finder-question",
            prompt=(
                "Which Drama Finder class stands for a DateTimePicker, and how does a test set its "
                "value without depending on the browser's date format?"
            ),
            loads=True,
            why="A question about the element classes that the skill lists.",
        ),
        TriggerPrompt(
            id="xpath-row-button",
            prompt=(
                "In my Playwright test I click the Remove button in the third row of a Vaadin Grid "
                "with //vaadin-grid-cell-content[12]//vaadin-button. There must be something "
                "better than this XPath?"
            ),
            loads=True,
            why="A grid in a Playwright test, where the skill has a way without XPath.",
        ),
        TriggerPrompt(
            id="set-up-base-class",
            prompt=(
                "Our Spring Boot + Vaadin 24 shop has no browser tests at all. Set up what is "
                "needed for Playwright ITs in Java (base class, first test of ProductsView)."
            ),
            loads=True,
            why="The base class that such tests extend is a part of the skill.",
        ),
        TriggerPrompt(
            id="flaky-dialog",
            prompt=(
                "OrderDialogIT fails about once in ten runs on CI with a Playwright timeout after "
                "the Vaadin dialog is opened from the grid. Somebody put Thread.sleep(2000) in. "
                "Make it stable, please."
            ),
            loads=True,
            why="A flaky test of a Vaadin dialog; waiting is covered by the skill.",
        ),
        TriggerPrompt(
            id="validation-coverage",
            prompt=(
                "Add coverage for the validation messages of RegistrationView: empty e-mail, "
                "password too short, passwords that differ. The other tests are in "
                "src/test/java/com/acme/it and extend SpringPlaywrightIT."
            ),
            loads=True,
            why="The base class gives it away; error messages of fields are in the skill.",
        ),
        TriggerPrompt(
            id="manual-test-case",
            prompt=(
                "QA gave me this manual test case, please automate it like our other Vaadin ITs "
                "with Playwright.\n\n"
                "TC-311 Cancel an order\n"
                "1. Open /orders, the list shows at least one order\n"
                "2. Select the first row, press Cancel order\n"
                '3. A dialog asks for a reason; choose "Ordered twice" in the select\n'
                "4. Confirm\n"
                'Expected: notification "Order cancelled", the status column says Cancelled'
            ),
            loads=True,
            why="A long specification whose result is a Playwright test of a Vaadin view.",
        ),
        TriggerPrompt(
            id="german",
            prompt=(
                "Schreib mir bitte einen Playwright-Integrationstest für die Vaadin-View "
                "ProductsView. Er soll prüfen, dass ein leerer Name abgelehnt wird und die "
                "Fehlermeldung am Feld erscheint."
            ),
            loads=True,
            why="The same request in German.",
        ),
        TriggerPrompt(
            id="french",
            prompt=(
                "J'ai une vue Vaadin Flow avec une ComboBox « Pays » et un DatePicker. Il me "
                "faudrait un test Playwright en Java qui vérifie l'enregistrement du formulaire."
            ),
            loads=True,
            why="The same request in French.",
        ),
        TriggerPrompt(
            id="spanish",
            prompt=(
                "¿Puedes arreglar InvoiceViewIT? Es un test de Playwright de nuestra vista de "
                "Vaadin y ya no encuentra el botón Guardar."
            ),
            loads=True,
            why="A repair, in Spanish.",
        ),
        TriggerPrompt(
            id="japanese",
            prompt=(
                "VaadinのTasksView(Java、Flow)用に、Gridの行数と通知の表示を確認する"
                "PlaywrightのITクラスを書いてください。"
            ),
            loads=True,
            why="A new IT class, in Japanese.",
        ),
        TriggerPrompt(
            id="extend-existing",
            prompt=(
                "Extend TasksViewIT: after sorting by due date the first row must be the overdue "
                "task, and deleting it must leave six rows. It is one of our Vaadin Playwright "
                "tests."
            ),
            loads=True,
            why="Extending a test class with grid assertions.",
        ),
        TriggerPrompt(
            id="migrate-from-testbench",
            prompt=(
                "Rewrite ProductViewIT, which is a TestBench test, as a Playwright test with Drama "
                "Finder. We are giving up our TestBench licence."
            ),
            loads=True,
            why="TestBench is only where it comes from; what is wanted is a Playwright test.",
        ),
        TriggerPrompt(
            id="race-in-assertion",
            prompt=(
                'Why does assertEquals("Ada", TextFieldElement.getByLabel(page, "Name")'
                ".getValue()) sometimes see the old value?"
            ),
            loads=True,
            why="No product is named, but the element class and the page are.",
        ),
        TriggerPrompt(
            id="compile-error",
            prompt=(
                "mvn verify -Dit.test=InvoiceViewIT says: cannot find symbol method "
                "assertRowTotal(int) location: variable grid of type GridElement. The test extends "
                "AbstractBasePlaywrightIT."
            ),
            loads=True,
            why="A guessed method of an element class; the skill says which ones there are.",
        ),
        TriggerPrompt(
            id="wizard-end-to-end",
            prompt=(
                "We need one end-to-end test for the checkout wizard (Vaadin Flow, three steps, "
                "upload of a signed PDF in the last one). Java, Playwright, JUnit 5."
            ),
            loads=True,
            why="End-to-end test is another name for it.",
        ),
        TriggerPrompt(
            id="navigation",
            prompt=(
                "Test that the side navigation of our Vaadin app leads to every view and that the "
                "page title changes. We use com.microsoft.playwright in the other tests."
            ),
            loads=True,
            why="Navigation and titles, with Playwright for Java.",
        ),
        TriggerPrompt(
            id="scope-by-dialog",
            prompt=(
                'There are two fields labelled "Name" on the page, one of them in a Vaadin '
                "dialog, and my Playwright test always fills the wrong one."
            ),
            loads=True,
            why="Searching inside a container is what the skill explains.",
        ),
        TriggerPrompt(
            id="test-first",
            prompt=(
                'Test first, please: SettingsView.java gets a checkbox "Dark mode" that enables '
                'the radio button group "Contrast". Start with SettingsViewIT (Vaadin, '
                "Playwright), I'll write the view."
            ),
            loads=True,
            why="The test of a view that is not there yet.",
        ),
        TriggerPrompt(
            id="review-the-test",
            prompt=(
                "Could you look over DeliveryViewIT before I push? It's my first Playwright test "
                "for a Vaadin view and I'm not sure about all those CSS selectors."
            ),
            loads=True,
            why="Judging such a test takes the same knowledge as writing it.",
        ),
        TriggerPrompt(
            id="helper-text-hint",
            prompt=(
                "how can i assert the helper text of a vaadin EmailField in playwright java, "
                "the slot is in the light dom somewhere"
            ),
            loads=True,
            why="One assertion, asked for casually.",
        ),
        TriggerPrompt(
            id="no-spring",
            prompt=(
                "Our Vaadin app runs on plain Jetty, without Spring. What must a Playwright IT "
                "override so that it opens http://localhost:8080/reports?"
            ),
            loads=True,
            why="Projects without Spring are covered by the skill.",
        ),
        # ---- It should not load
        TriggerPrompt(
            id="react-playwright",
            prompt=(
                "Write a Playwright test in TypeScript for our React checkout page. It should fill "
                "in the address form and expect the order summary."
            ),
            loads=False,
            why="Playwright, but React and TypeScript: no Vaadin view.",
        ),
        TriggerPrompt(
            id="angular-component-harness",
            prompt="Add component harness tests for the Angular Material date picker in our form.",
            loads=False,
            why="Another framework and another way of testing.",
        ),
        TriggerPrompt(
            id="rest-controller",
            prompt=(
                "Write an integration test for OrderController: POST /api/orders with an invalid "
                "body has to return 400 with a problem detail. Spring Boot, MockMvc."
            ),
            loads=False,
            why="An integration test, but of a REST controller: no browser.",
        ),
        TriggerPrompt(
            id="selenium-page",
            prompt=(
                "Our Selenium test of the company home page breaks since Chrome 140: element click "
                "intercepted. How do I get rid of the cookie banner first?"
            ),
            loads=False,
            why="Selenium on a plain web page.",
        ),
        TriggerPrompt(
            id="testbench",
            prompt=(
                "Fix the TestBench test LoginViewIT: $(ButtonElement.class).first() finds nothing "
                "after our Vaadin upgrade. We stay with TestBench."
            ),
            loads=False,
            why="A Vaadin IT, but TestBench, which the skill excludes.",
        ),
        TriggerPrompt(
            id="karibu",
            prompt=(
                "Write a Karibu test for PersonForm that sets the name with _setValue and expects "
                "the save button to be enabled. No browser, please."
            ),
            loads=False,
            why="A unit test of Vaadin components on the server; excluded.",
        ),
        TriggerPrompt(
            id="vaadin-grid-column",
            prompt=(
                "Add a column with the total price to the grid in our Vaadin OrdersView and format "
                "it in the user's currency."
            ),
            loads=False,
            why="A Vaadin view, but nothing is tested.",
        ),
        TriggerPrompt(
            id="vaadin-binder",
            prompt=(
                "Explain how Binder validates a field that depends on another one in Vaadin Flow, "
                "for instance end date after start date."
            ),
            loads=False,
            why="Validation in the view's own code, not in a test.",
        ),
        TriggerPrompt(
            id="vaadin-theme",
            prompt=(
                "The buttons in our Vaadin app should have rounded corners and the dialog header "
                "our brand colour. Where do I put the CSS?"
            ),
            loads=False,
            why="Styling of Vaadin components.",
        ),
        TriggerPrompt(
            id="vaadin-upgrade",
            prompt="Upgrade our project from Vaadin 24.4 to 25 and Spring Boot 4.",
            loads=False,
            why="An upgrade; tests are at most run afterwards.",
        ),
        TriggerPrompt(
            id="playwright-plain-page",
            prompt=(
                "With Playwright for Java, take a screenshot of https://example.com at 1280x800 "
                'and check that the h1 says "Example Domain".'
            ),
            loads=False,
            why="Playwright and Java, but a plain web page; excluded.",
        ),
        TriggerPrompt(
            id="cypress",
            prompt=(
                "Our Cypress test waits forever for the intercepted /api/cart call. How should I "
                "alias it?"
            ),
            loads=False,
            why="Another tool, and no Vaadin.",
        ),
        TriggerPrompt(
            id="hilla-react-view",
            prompt=(
                "We have a Hilla view in React (Vaadin 24). Write a vitest test for the function "
                "that maps the endpoint's result to table rows."
            ),
            loads=False,
            why="Vaadin's other half: a TypeScript unit test, no Flow view.",
        ),
        TriggerPrompt(
            id="service-unit-test",
            prompt=(
                "Write unit tests for PriceCalculator in our Vaadin shop: discounts, rounding and "
                "negative quantities. JUnit 5 and AssertJ."
            ),
            loads=False,
            why="A unit test of plain Java that happens to be in a Vaadin project.",
        ),
        TriggerPrompt(
            id="repository-test",
            prompt=(
                "OrderRepositoryIT needs a real PostgreSQL. Use Testcontainers and test the query "
                "for overdue orders."
            ),
            loads=False,
            why="A class named IT, but it tests a repository.",
        ),
        TriggerPrompt(
            id="playwright-python-scraper",
            prompt=(
                "My Python script with Playwright scrapes prices from three shops. Make it run the "
                "pages concurrently."
            ),
            loads=False,
            why="Playwright for scraping, in Python.",
        ),
        TriggerPrompt(
            id="ci-browsers",
            prompt=(
                "Our GitHub workflow downloads the Playwright browsers on every run, 400 MB each. "
                "How do I cache them?"
            ),
            loads=False,
            why="About the build; no test is written or changed.",
        ),
        TriggerPrompt(
            id="load-test",
            prompt=(
                "How many concurrent users can our Vaadin application serve? Write a Gatling "
                "scenario that logs in and opens the dashboard."
            ),
            loads=False,
            why="A load test with another tool.",
        ),
        TriggerPrompt(
            id="accessibility-review",
            prompt=(
                "Go through CustomerView.java and tell me which fields lack an accessible label. "
                "Vaadin Flow."
            ),
            loads=False,
            why="A review of a view, not of its test.",
        ),
        TriggerPrompt(
            id="view-refactoring",
            prompt=(
                "OrdersView has 900 lines. Split it into a toolbar, a grid and an editor component "
                "without changing behaviour. Our Vaadin ITs must stay green, do not touch them."
            ),
            loads=False,
            why="ITs are mentioned, and are to be left alone.",
        ),
        TriggerPrompt(
            id="web-component-test",
            prompt=(
                "Add a test for our Lit element <price-tag> with @open-wc/testing and the web test "
                "runner."
            ),
            loads=False,
            why="A web component is tested in JavaScript, without Vaadin Flow.",
        ),
        TriggerPrompt(
            id="swing-migration",
            prompt=(
                "We want to replace our Swing client by a Vaadin Flow application. What would the "
                "first steps be, and how long might it take for 60 dialogs?"
            ),
            loads=False,
            why="Planning; dialogs and Vaadin, but no test.",
        ),
        TriggerPrompt(
            id="explain-locators",
            prompt=(
                "What is the difference between page.locator and page.getByRole in Playwright? I "
                "am preparing a talk about testing our Next.js site."
            ),
            loads=False,
            why="Locators, but of a Next.js site.",
        ),
        TriggerPrompt(
            id="commit-message",
            prompt=(
                "Write a commit message for the staged changes: they add ProductsViewIT and a "
                "helper for the test data."
            ),
            loads=False,
            why="The test is written already; what is wanted is a sentence about it.",
        ),
        TriggerPrompt(
            id="the-other-playwright",
            prompt="Who was the playwright of Waiting for Godot? Was it written in French first?",
            loads=False,
            why="A playwright of another kind.",
        ),
        TriggerPrompt(
            id="flutter",
            prompt="Fix the failing integration test of our Flutter app's login screen on Android.",
            loads=False,
            why="A failing integration test, on another platform.",
        ),
    ],
)
